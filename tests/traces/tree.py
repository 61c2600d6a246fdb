"""The spans of one trace, as a tree."""

PROCESSES = {"gateway", "catalog-svc", "orders-svc", "wallet-svc", "identity-svc"}
CONSUMER = "wallet-svc-OrderPaid process"


def process(span):
    return span["attributes"]["service.name"]


def faults(spans):
    """Returns what is wrong with the trace of a paid order; it may be incomplete yet."""
    by_id = {span["context"]["span_id"]: span for span in spans}
    roots = [(span["name"], span["parent_id"]) for span in spans if span["parent_id"] not in by_id]
    if [parent for _, parent in roots] != [None]:
        yield f"one root without a parent is expected: {roots}"
    if missing := PROCESSES - {process(span) for span in spans}:
        yield f"no spans of {sorted(missing)}"
    consumers = [span for span in spans if span["name"] == CONSUMER]
    if [process(span) for span in consumers] != ["wallet-svc"]:
        yield f"one span {CONSUMER!r} is expected: {len(consumers)}"
    for span in consumers:
        parent = by_id.get(span["parent_id"])
        if parent is None or process(parent) != "orders-svc":
            yield f"the parent of {CONSUMER!r} is not the span of orders-svc that published the event"
    for span in spans:
        parent = by_id.get(span["parent_id"])
        if parent and process(parent) != process(span) and span["start_time"] < parent["start_time"]:
            yield f"{span['name']} begins before {parent['name']}, which called it"


def lines(spans, parent=None, depth=0):
    """Formats the tree, one line a span."""
    ids = {span["context"]["span_id"] for span in spans}
    for span in sorted(spans, key=lambda span: span["start_time"]):
        above = span["parent_id"] if span["parent_id"] in ids else None
        if above == parent:
            yield f"{'  ' * depth}{process(span)}: {span['name']}"
            yield from lines(spans, span["context"]["span_id"], depth + 1)
