//! A category and how it changes.

use chrono::{DateTime, Utc};
use platform::{
    ids::Id,
    patch::Patch,
    rank::{Rank, Ranked},
};

/// A group of products.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct Category {
    pub(crate) id: Id<Category>,
    /// 1 to 255 characters.
    pub(crate) title: String,
    /// At most 10 000 characters.
    pub(crate) description: Option<String>,
    /// As written; see [`crate::media`].
    pub(crate) image: Option<String>,
    /// Its position among the categories.
    pub(crate) rank: Rank,
    /// A JSON object, as written.
    pub(crate) custom_data: String,
    /// Counts its changes from 1.
    pub(crate) version: i64,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// The fields of a new category.
#[derive(Debug, Clone)]
pub(crate) struct NewCategory {
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) image: Option<String>,
    /// `None`: after all others.
    pub(crate) rank: Option<Rank>,
    pub(crate) custom_data: String,
}

/// An update of a category.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CategoryPatch {
    pub(crate) title: Option<String>,
    pub(crate) description: Patch<String>,
    pub(crate) image: Patch<String>,
    pub(crate) rank: Option<Rank>,
    pub(crate) custom_data: Option<String>,
}

impl Category {
    pub(crate) fn create(id: Id<Self>, new: NewCategory, rank: Rank, now: DateTime<Utc>) -> Self {
        Self {
            id,
            title: new.title,
            description: new.description,
            image: new.image,
            rank,
            custom_data: new.custom_data,
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }

    /// Applies an update that is not empty.
    pub(crate) fn update(&mut self, patch: CategoryPatch, now: DateTime<Utc>) {
        if let Some(title) = patch.title {
            self.title = title;
        }
        self.description = patch.description.or(self.description.take());
        self.image = patch.image.or(self.image.take());
        self.rank = patch.rank.unwrap_or(self.rank);
        if let Some(custom_data) = patch.custom_data {
            self.custom_data = custom_data;
        }
        self.touch(now);
    }

    /// Moves it to another position.
    pub(crate) fn place(&mut self, rank: Rank, now: DateTime<Utc>) {
        self.rank = rank;
        self.touch(now);
    }

    /// Counts a change that is not in its fields, such as its deletion.
    pub(crate) fn touch(&mut self, now: DateTime<Utc>) {
        self.version += 1;
        self.updated_at = now;
    }

    pub(crate) fn ranked(&self) -> Ranked {
        Ranked {
            rank: self.rank,
            id: self.id.uuid(),
        }
    }
}
