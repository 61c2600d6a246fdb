use proptest::prelude::*;

use super::*;

/// A list as a database keeps it: items in the order of (key, id), moved as the services move them.
struct List {
    items: Vec<(Rank, u32)>,
    /// The ids in the order that the moves asked for.
    asked: Vec<u32>,
    moves: usize,
    rows: usize,
    sight: usize,
}

impl List {
    fn of(keys: impl IntoIterator<Item = Rank>) -> Self {
        let mut items: Vec<_> = keys.into_iter().zip(0..).collect();
        items.sort_unstable();
        Self {
            asked: items.iter().map(|item| item.1).collect(),
            items,
            moves: 0,
            rows: 0,
            sight: 16,
        }
    }

    /// Moves the item at `from` right before the item at `to`, or to the end.
    fn move_item(&mut self, from: usize, to: Option<usize>) {
        if to == Some(from) {
            return;
        }
        let at = to.map_or(self.items.len() - 1, |to| to - usize::from(from < to));
        let id = self.asked.remove(from);
        self.asked.insert(at, id);
        self.items.remove(from);
        self.write(at, id);
        let around = &self.items[at.saturating_sub(1)..(at + 2).min(self.items.len())];
        assert!(around.windows(2).all(|pair| pair[0].0 < pair[1].0));
        self.moves += 1;
        if self.moves.is_multiple_of(self.items.len()) {
            self.assert_in_order();
        }
    }

    /// The item is where it should be, and the others are in the order that they had.
    fn assert_in_order(&self) {
        assert!(self.items.is_sorted(), "keys say what the order is");
        assert!(
            self.items
                .iter()
                .map(|item| item.1)
                .eq(self.asked.iter().copied())
        );
    }

    fn write(&mut self, at: usize, id: u32) {
        let mut sight = self.sight;
        loop {
            let side = |keys: Vec<Rank>| Side {
                complete: keys.len() <= sight,
                keys: keys.into_iter().take(sight).collect(),
            };
            let (before, after) = self.items.split_at(at);
            let before = before.iter().rev().take(sight + 1);
            let before = side(before.map(|item| item.0).collect());
            let after = side(after.iter().take(sight + 1).map(|item| item.0).collect());
            match place(&before, &after) {
                Placement::Unknown => sight *= 8,
                Placement::Between(key) => {
                    self.rows += 1;
                    return self.items.insert(at, (key, id));
                }
                Placement::Respaced {
                    before,
                    item,
                    after,
                } => {
                    self.rows += before.len() + 1 + after.len();
                    for (n, key) in before.into_iter().enumerate() {
                        self.items[at - 1 - n].0 = key;
                    }
                    for (n, key) in after.into_iter().enumerate() {
                        self.items[at + n].0 = key;
                    }
                    return self.items.insert(at, (item, id));
                }
            }
        }
    }

    fn assert_cheap(&self) {
        self.assert_in_order();
        let longest = self.items.iter().map(|item| item.0.to_string().len()).max();
        assert!(longest.unwrap() <= 64, "{longest:?} characters");
        assert!(
            self.rows * 10 < self.moves * 11,
            "{} rows for {} moves",
            self.rows,
            self.moves
        );
    }
}

fn integers(count: u32) -> List {
    List::of((1..=count).map(|n| Rank::parse(&n.to_string()).unwrap()))
}

#[test]
fn ten_thousand_items_move_into_one_gap() {
    let mut before_one = integers(10_050);
    for _ in 0..10_000 {
        // The last item goes right before the one that was the 25th at the start.
        let (from, target) = (before_one.items.len() - 1, 24);
        let to = before_one.items.iter().position(|item| item.1 == target);
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
fn the_end_is_the_next_integer_while_there_is_one() {
    let side = |keys: &[&str]| Side {
        keys: keys.iter().map(|key| Rank::parse(key).unwrap()).collect(),
        complete: true,
    };
    let last = place(&side(&["7.5", "7"]), &side(&[]));
    assert_eq!(last, Placement::Between(Rank::parse("8").unwrap()));
    assert_eq!(
        place(&side(&[]), &side(&[])),
        Placement::Between(Rank::first())
    );
    let widest = "9".repeat(20);
    let beyond = place(&side(&[&widest]), &side(&[]));
    assert!(matches!(beyond, Placement::Between(key) if key > Rank::parse(&widest).unwrap()));
    let middle = place(&side(&["1"]), &side(&["2"]));
    assert_eq!(middle, Placement::Between(Rank::parse("1.5").unwrap()));
}

#[test]
fn equal_keys_become_different_ones() {
    let one = Rank::parse("1").unwrap();
    let mut list = List::of([one; 5]);
    list.move_item(4, Some(0));
    list.assert_in_order();
    assert!(list.items.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert!(
        list.items
            .iter()
            .all(|item| item.0 < Rank::parse("9").unwrap())
    );
    let mut long = List::of(vec![one; 3_000]);
    long.move_item(2_999, Some(1_500));
    long.move_item(0, None);
    long.assert_in_order();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_moves_in_any_list_end_where_they_should(
        keys in proptest::collection::vec(
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
        sight in 1..20_usize,
    ) {
        let mut list = List::of(keys.iter().map(|key| Rank::parse(key).unwrap()));
        list.sight = sight;
        let count = list.items.len();
        for (from, to) in moves {
            list.move_item(from % count, to.map(|to| to % count));
            list.assert_in_order();
        }
    }
}
