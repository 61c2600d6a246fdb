"""Tests of the checker of traces: each kind of broken tree yields its fault, and no other."""

import unittest

import tree

ORDER = "orders-svc OrderService/CreateOrder"


def span(number, parent, process, name, start):
    """Makes a span as the API of the store shows it. Names and parents are numbers here."""
    return {
        "context": {"span_id": str(number)},
        "parent_id": None if parent is None else str(parent),
        "attributes": {"service.name": process},
        "name": name,
        "start_time": f"2026-11-30T10:00:00.{start:06}+00:00",
    }


def paid_order():
    """Returns the spans of a paid order, in no order."""
    return [
        span(7, 6, "wallet-svc", tree.CONSUMER, 60),
        span(1, None, "gateway", "POST /orders", 10),
        span(4, 2, "identity-svc", "UserService/GetUser", 30),
        span(2, 1, "orders-svc", ORDER, 20),
        span(3, 2, "catalog-svc", "ProductService/Quote", 31),
        span(6, 2, "orders-svc", "OrderPaid publish", 50),
        span(5, 2, "wallet-svc", "LedgerService/Post", 40),
    ]


def changed(number, **fields):
    """Returns the spans of a paid order, one of them with other fields."""
    return [one | fields if one["context"]["span_id"] == str(number) else one for one in paid_order()]


def without(*numbers):
    return [one for one in paid_order() if int(one["context"]["span_id"]) not in numbers]


class Faults(unittest.TestCase):
    def check(self, spans, *expected):
        self.assertEqual(list(tree.faults(spans)), list(expected))

    def test_a_correct_tree_has_none(self):
        self.check(paid_order())

    def test_a_span_may_begin_before_its_parent_in_the_same_process(self):
        self.check(changed(6, start_time="2026-11-30T10:00:00.000019+00:00"))

    def test_two_roots(self):
        roots = [("POST /orders", None), (ORDER, None)]
        self.check(changed(2, parent_id=None), f"one root without a parent is expected: {roots}")

    def test_a_root_whose_parent_is_missing(self):
        roots = [("POST /orders", "8")]
        self.check(changed(1, parent_id="8"), f"one root without a parent is expected: {roots}")

    def test_a_second_root_whose_parent_is_missing(self):
        roots = [("POST /orders", None), ("UserService/GetUser", "8")]
        self.check(changed(4, parent_id="8"), f"one root without a parent is expected: {roots}")

    def test_no_span_at_all(self):
        self.check([], "one root without a parent is expected: []",
                   "no spans of ['catalog-svc', 'gateway', 'identity-svc', 'orders-svc', 'wallet-svc']",
                   f"one span {tree.CONSUMER!r} is expected: 0")

    def test_processes_without_spans(self):
        self.check(without(3), "no spans of ['catalog-svc']")
        self.check(without(3, 4), "no spans of ['catalog-svc', 'identity-svc']")

    def test_no_consumer(self):
        self.check(without(7), f"one span {tree.CONSUMER!r} is expected: 0")

    def test_two_consumers(self):
        second = span(8, 6, "wallet-svc", tree.CONSUMER, 70)
        self.check([*paid_order(), second], f"one span {tree.CONSUMER!r} is expected: 2")

    def test_the_consumer_in_another_process(self):
        attributes = {"service.name": "identity-svc"}
        self.check(changed(7, attributes=attributes), f"one span {tree.CONSUMER!r} is expected: 1")

    def test_the_consumer_below_another_process(self):
        parent = f"the parent of {tree.CONSUMER!r} is not the span of orders-svc that published the event"
        self.check(changed(7, parent_id="1"), parent)
        self.check(changed(7, parent_id="5"), parent)

    def test_the_consumer_whose_parent_is_missing(self):
        roots = [(tree.CONSUMER, "8"), ("POST /orders", None)]
        self.check(changed(7, parent_id="8"), f"one root without a parent is expected: {roots}",
                   f"the parent of {tree.CONSUMER!r} is not the span of orders-svc that published the event")

    def test_a_span_that_begins_before_its_parent_in_another_process(self):
        self.check(changed(5, start_time="2026-11-30T10:00:00.000019+00:00"),
                   f"LedgerService/Post begins before {ORDER}, which called it")


class Lines(unittest.TestCase):
    def test_a_tree_is_indented_and_in_the_order_of_time(self):
        self.assertEqual(list(tree.lines(paid_order())), [
            "gateway: POST /orders",
            f"  orders-svc: {ORDER}",
            "    identity-svc: UserService/GetUser",
            "    catalog-svc: ProductService/Quote",
            "    wallet-svc: LedgerService/Post",
            "    orders-svc: OrderPaid publish",
            f"      wallet-svc: {tree.CONSUMER}",
        ])

    def test_spans_whose_parent_is_missing_are_shown(self):
        self.assertEqual(list(tree.lines(without(1, 2, 3, 4, 5))), [
            "orders-svc: OrderPaid publish",
            f"  wallet-svc: {tree.CONSUMER}",
        ])


if __name__ == "__main__":
    unittest.main()
