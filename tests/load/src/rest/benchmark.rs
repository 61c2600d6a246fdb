//! The benchmarks, and which requests each of them sends.

use rand::{SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};

use Kind::{Checkout, OrderRead, ProductList, ProductRead};

/// Requests of one percent in a sequence.
const PER_PERCENT: usize = 10;

/// A request that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An order, created and paid in one request.
    Checkout,
    /// A page of 30 products.
    ProductList,
    /// A product.
    ProductRead,
    /// An order that was paid before.
    OrderRead,
}

impl Kind {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Checkout => "checkout",
            ProductList => "product-list",
            ProductRead => "product-read",
            OrderRead => "order-read",
        }
    }

    /// Returns its method and path.
    pub const fn route(self) -> &'static str {
        match self {
            Checkout => "POST /orders",
            ProductList => "GET /products?page[size]=30",
            ProductRead => "GET /products/:id",
            OrderRead => "GET /orders/:id",
        }
    }
}

/// A benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Benchmark {
    /// `bench checkout`
    Checkout,
    /// `bench product-list`
    ProductList,
    /// `bench product-read`
    ProductRead,
    /// `bench mixed`
    Mixed,
}

impl Benchmark {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checkout => Checkout.name(),
            Self::ProductList => ProductList.name(),
            Self::ProductRead => ProductRead.name(),
            Self::Mixed => "mixed",
        }
    }

    /// Returns the name of its directory and database.
    pub const fn database(self) -> &'static str {
        match self {
            Self::Checkout => "checkout",
            Self::ProductList => "product_list",
            Self::ProductRead => "product_read",
            Self::Mixed => "mixed",
        }
    }

    /// Returns the kinds of its requests, with their percentages.
    pub const fn shares(self) -> &'static [(Kind, usize)] {
        match self {
            Self::Checkout => &[(Checkout, 100)],
            Self::ProductList => &[(ProductList, 100)],
            Self::ProductRead => &[(ProductRead, 100)],
            Self::Mixed => &[
                (ProductRead, 60),
                (ProductList, 25),
                (Checkout, 10),
                (OrderRead, 5),
            ],
        }
    }

    /// Returns the target of its rate, divided by that of product reads; `None` if they are not compared.
    pub const fn min_ratio(self) -> Option<f64> {
        match self {
            Self::Checkout => Some(0.25),
            Self::ProductList => Some(0.6),
            Self::ProductRead | Self::Mixed => None,
        }
    }
}

/// Returns a sequence of kinds at random that has the exact shares. It is the same for the same seed.
pub fn sequence(shares: &[(Kind, usize)], seed: u64) -> Vec<Kind> {
    let kinds = shares
        .iter()
        .flat_map(|(kind, percent)| vec![*kind; percent * PER_PERCENT]);
    let mut kinds: Vec<_> = kinds.collect();
    kinds.shuffle(&mut StdRng::seed_from_u64(seed));
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Benchmark; 4] = [
        Benchmark::Checkout,
        Benchmark::ProductList,
        Benchmark::ProductRead,
        Benchmark::Mixed,
    ];

    #[test]
    fn shares_are_of_a_hundred() {
        for benchmark in ALL {
            let shares = benchmark.shares().iter().map(|(_, percent)| percent);
            assert_eq!(shares.sum::<usize>(), 100, "{}", benchmark.name());
        }
    }

    #[test]
    fn a_sequence_has_the_shares_and_depends_on_the_seed_alone() {
        let shares = Benchmark::Mixed.shares();
        let kinds = sequence(shares, 1);
        assert_eq!(kinds.len(), 1_000);
        for (kind, percent) in shares {
            let count = kinds.iter().filter(|it| *it == kind).count();
            assert_eq!(count, percent * PER_PERCENT, "{}", kind.name());
        }
        assert_eq!(sequence(shares, 1), kinds);
        assert_ne!(sequence(shares, 2), kinds);
    }
}
