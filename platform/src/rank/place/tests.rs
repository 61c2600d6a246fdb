use proptest::prelude::*;
use uuid::Uuid;

use super::*;

/// A list as a database keeps it, moved as the services move it.
struct List {
    items: Vec<Ranked>,
    /// The ids in the order that the moves lead to.
    expected: Vec<Uuid>,
    moves: usize,
    rows_written: usize,
    first_limit: u32,
}

impl List {
    fn of(ranks: impl IntoIterator<Item = Rank>) -> Self {
        let items = ranks.into_iter().zip(0..);
        let mut items: Vec<_> = items.map(|(rank, n)| Ranked { rank, id: id(n) }).collect();
        items.sort_unstable();
        Self {
            expected: items.iter().map(|item| item.id).collect(),
            items,
            moves: 0,
            rows_written: 0,
            first_limit: 16,
        }
    }

    /// Moves the item at `from` right before the item at `to`, or to the end.
    fn move_item(&mut self, from: usize, to: Option<usize>) {
        if to == Some(from) {
            return;
        }
        let at = to.map_or(self.items.len() - 1, |to| to - usize::from(from < to));
        let id = self.expected.remove(from);
        self.expected.insert(at, id);
        self.items.remove(from);
        self.write(at, id);
        let around = &self.items[at.saturating_sub(1)..(at + 2).min(self.items.len())];
        assert!(around.windows(2).all(|pair| pair[0].rank < pair[1].rank));
        self.moves += 1;
        if self.moves.is_multiple_of(self.items.len()) {
            self.assert_in_order();
        }
    }

    /// The item is where it should be, and the others are in the order that they had.
    fn assert_in_order(&self) {
        assert!(self.items.is_sorted(), "the ranks give the order");
        let ids = self.items.iter().map(|item| &item.id);
        assert!(ids.eq(&self.expected));
    }

    fn write(&mut self, at: usize, id: Uuid) {
        let (before, after) = self.items.split_at(at);
        let mut limit = self.first_limit;
        let placement = loop {
            let read = limit as usize;
            let before = before.iter().rev().take(read).copied().collect();
            let after = after.iter().take(read).copied().collect();
            match place(&Side::new(before, limit), &Side::new(after, limit)) {
                Some(placement) => break placement,
                None => limit *= 8,
            }
        };
        self.rows_written += 1 + placement.neighbours.len();
        for moved in placement.neighbours {
            let item = self.items.iter_mut().find(|item| item.id == moved.id);
            item.unwrap().rank = moved.rank;
        }
        let rank = placement.item;
        self.items.insert(at, Ranked { rank, id });
    }

    fn assert_cheap(&self) {
        self.assert_in_order();
        let lengths = self.items.iter().map(|item| item.rank.to_string().len());
        let longest = lengths.max().unwrap();
        assert!(longest <= 64, "{longest} characters");
        let (rows, moves) = (self.rows_written, self.moves);
        assert!(rows * 10 < moves * 11, "{rows} rows for {moves} moves");
    }
}

fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn item(n: u128, text: &str) -> Ranked {
    Ranked {
        rank: rank(text),
        id: id(n),
    }
}

fn rank(text: &str) -> Rank {
    Rank::parse(text).unwrap()
}

fn integers(count: u32) -> List {
    List::of((1..=count).map(|n| rank(&n.to_string())))
}

#[test]
fn ten_thousand_items_move_into_one_gap() {
    let mut before_one = integers(10_050);
    for _ in 0..10_000 {
        // The last item goes right before the one that was the 25th at the start.
        let (from, target) = (before_one.items.len() - 1, 24);
        let to = before_one
            .items
            .iter()
            .position(|item| item.id == id(target));
        before_one.move_item(from, to);
    }
    before_one.assert_cheap();

    let mut after_one = integers(10_050);
    for _ in 0..10_000 {
        // Right behind the one that was the 25th: each before the one that moved last.
        let (from, to) = (after_one.items.len() - 1, 25);
        after_one.move_item(from, Some(to));
    }
    after_one.assert_cheap();

    let mut to_the_front = integers(10_050);
    for _ in 0..10_000 {
        to_the_front.move_item(to_the_front.items.len() - 1, Some(0));
    }
    to_the_front.assert_cheap();
}

#[test]
fn ten_thousand_moves_shuffle_a_short_list() {
    let mut list = integers(10);
    for n in 0..10_000_usize {
        list.move_item(n * 7 % 10, Some(n * 3 % 10));
        list.move_item(9, Some(4));
        list.move_item(0, None);
    }
    list.assert_cheap();
}

#[test]
fn the_last_rank_is_the_next_integer_while_there_is_one() {
    let side = |ranks: &[&str]| Side {
        rows: ranks.iter().map(|text| item(0, text)).collect(),
        complete: true,
    };
    let one = |before: &[&str], after: &[&str]| {
        let placement = place(&side(before), &side(after)).unwrap();
        assert_eq!(placement.neighbours, []);
        placement.item
    };
    assert_eq!(one(&["7.5", "7"], &[]), rank("8"));
    assert_eq!(one(&[], &[]), Rank::first());
    let widest = "9".repeat(20);
    assert!(one(&[&widest], &[]) > rank(&widest));
    assert_eq!(one(&["1"], &["2"]), rank("1.5"));
}

#[test]
fn equal_ranks_become_different_ones() {
    let one = rank("1");
    let mut list = List::of([one; 5]);
    list.move_item(4, Some(0));
    list.assert_in_order();
    assert!(
        list.items
            .windows(2)
            .all(|pair| pair[0].rank < pair[1].rank)
    );
    assert!(list.items.iter().all(|item| item.rank < rank("9")));
    let mut long = List::of(vec![one; 3_000]);
    long.move_item(2_999, Some(1_500));
    long.move_item(0, None);
    long.assert_in_order();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_move_in_any_list_ends_at_its_place(
        ranks in proptest::collection::vec(
            prop_oneof![
                Just("0".to_owned()),
                Just("9".repeat(20)),
                Just(format!("{}.{}", "9".repeat(20), "9".repeat(40))),
                Just(format!("{}.{}8", "9".repeat(20), "9".repeat(39))),
                "[0-9]{1,20}(\\.[0-9]{1,40})?",
                "[1-3]",
            ],
            2..60,
        ),
        moves in proptest::collection::vec((any::<usize>(), any::<Option<usize>>()), 1..80),
        first_limit in 1..20_u32,
    ) {
        let mut list = List::of(ranks.iter().map(|text| rank(text)));
        list.first_limit = first_limit;
        let count = list.items.len();
        for (from, to) in moves {
            list.move_item(from % count, to.map(|to| to % count));
            list.assert_in_order();
        }
    }
}
