//! A category and how it changes.

use chrono::{DateTime, Utc};
use platform::{
    ids::Id,
    patch::Patch,
    rank::{Rank, Ranked},
};

/// A group of products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Identifies it.
    pub id: Id<Category>,
    /// 1 to 255 characters.
    pub title: String,
    /// At most 10 000 characters.
    pub description: Option<String>,
    /// As written; see [`crate::media`].
    pub image: Option<String>,
    /// Its place among the categories.
    pub rank: Rank,
    /// A JSON object, as written.
    pub custom_data: String,
    /// Counts its changes from 1.
    pub version: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// What a new category is made of.
#[derive(Debug, Clone)]
pub struct NewCategory {
    /// See [`Category::title`].
    pub title: String,
    /// See [`Category::description`].
    pub description: Option<String>,
    /// See [`Category::image`].
    pub image: Option<String>,
    /// `None`: after all others.
    pub rank: Option<Rank>,
    /// See [`Category::custom_data`].
    pub custom_data: String,
}

/// What an update changes.
#[derive(Debug, Clone, Default)]
pub struct CategoryPatch {
    /// See [`Category::title`].
    pub title: Option<String>,
    /// See [`Category::description`].
    pub description: Patch<String>,
    /// See [`Category::image`].
    pub image: Patch<String>,
    /// See [`Category::rank`].
    pub rank: Option<Rank>,
    /// See [`Category::custom_data`].
    pub custom_data: Option<String>,
}

impl CategoryPatch {
    /// Whether it leaves everything as it is.
    pub fn is_empty(&self) -> bool {
        self.title.is_none()
            && self.description.is_absent()
            && self.image.is_absent()
            && self.rank.is_none()
            && self.custom_data.is_none()
    }
}

impl Category {
    /// A new category, whose rank has been settled.
    pub fn create(id: Id<Self>, new: NewCategory, rank: Rank, now: DateTime<Utc>) -> Self {
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
    pub fn update(&mut self, patch: CategoryPatch, now: DateTime<Utc>) {
        self.title = patch
            .title
            .unwrap_or_else(|| std::mem::take(&mut self.title));
        self.description = patch.description.or(self.description.take());
        self.image = patch.image.or(self.image.take());
        self.rank = patch.rank.unwrap_or(self.rank);
        if let Some(custom_data) = patch.custom_data {
            self.custom_data = custom_data;
        }
        self.version += 1;
        self.updated_at = now;
    }

    /// Its place.
    pub fn ranked(&self) -> Ranked {
        let (id, rank) = (self.id.uuid(), self.rank);
        Ranked { id, rank }
    }

    /// Gives it another place.
    pub fn place(&mut self, rank: Rank, now: DateTime<Utc>) {
        self.rank = rank;
        self.version += 1;
        self.updated_at = now;
    }

    /// Ends it.
    pub fn delete(&mut self, now: DateTime<Utc>) {
        self.version += 1;
        self.updated_at = now;
    }
}
