//! The resources of the shop, each created with the ids of those it names.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::{
    Created,
    api::{Api, ApiError},
};

/// A kind of resource.
#[derive(Clone, Copy)]
struct Kind {
    /// The name in the summary.
    name: &'static str,
    path: &'static str,
    /// The field by which a resource is found.
    key: &'static str,
}

const fn kind(name: &'static str, path: &'static str, key: &'static str) -> Kind {
    Kind { name, path, key }
}

const TAX_RATES: Kind = kind("tax rates", "/tax-rates", "name");
const CATEGORIES: Kind = kind("categories", "/categories", "title");
const QUESTIONS: Kind = kind("questions", "/questions", "title");
const PRODUCTS: Kind = kind("products", "/products", "name");
const USERS: Kind = kind("users", "/users", "email");
const TASKS: Kind = kind("tasks", "/tasks", "name");

pub(super) struct Seeding<'a> {
    pub(super) api: &'a Api,
    /// Ids by path and name.
    pub(super) ids: BTreeMap<(&'static str, String), String>,
    pub(super) created: Created,
}

impl Seeding<'_> {
    pub(super) fn run(&mut self, shop: &Value) -> Result<()> {
        for (list, kind) in [
            ("taxRates", TAX_RATES),
            ("categories", CATEGORIES),
            ("questions", QUESTIONS),
        ] {
            for entry in entries(&shop[list]) {
                self.ensure(kind, entry)?;
            }
        }
        entries(&shop["products"]).try_for_each(|entry| self.product(entry.clone()))?;
        entries(&shop["users"]).try_for_each(|entry| self.user(entry.clone()))?;
        entries(&shop["tasks"]).try_for_each(|entry| self.task(entry.clone()))?;
        entries(&shop["orders"]).try_for_each(|entry| self.order(entry.clone()))
    }

    /// Returns the resource, which is created where it is missing.
    fn ensure(&mut self, kind: Kind, body: &Value) -> Result<Value> {
        let Kind { name, path, key } = kind;
        let value = text(&body[key])?.to_owned();
        let existing = self
            .api
            .find(path, (key, &value), |row| row[key] == *value)?;
        let resource = if let Some(resource) = existing {
            resource
        } else {
            *self.created.entry(name).or_default() += 1;
            self.api.post(path, &value, body)?
        };
        let id = text(&resource["id"])?.to_owned();
        self.ids.insert((path, value), id);
        Ok(resource)
    }

    fn id(&self, kind: Kind, name: &Value) -> Result<&str> {
        let id = self.ids.get(&(kind.path, text(name)?.to_owned()));
        let id = id.with_context(|| format!("shop.json has no {name} among its {}", kind.name))?;
        Ok(id)
    }

    fn product(&mut self, mut body: Value) -> Result<()> {
        let questions = take(&mut body, "questions");
        let (category, tax_rate) = (take(&mut body, "category"), take(&mut body, "taxRate"));
        body["categoryId"] = self.id(CATEGORIES, &category)?.into();
        if !tax_rate.is_null() {
            body["taxRateId"] = self.id(TAX_RATES, &tax_rate)?.into();
        }
        let product = self.ensure(PRODUCTS, &body)?;
        for question in entries(&questions) {
            let id = self.id(QUESTIONS, question)?;
            let path = format!("/products/{}/questions", text(&product["id"])?);
            let body = json!({ "questionId": id });
            self.post_once(&path, question, &body, "question_already_linked")?;
        }
        Ok(())
    }

    /// Sends a POST; the code `done` means that an earlier run has sent it.
    fn post_once(&self, path: &str, name: &Value, body: &Value, done: &str) -> Result<()> {
        let is_done = |error: &ApiError| error.code == done;
        match self.api.post(path, text(name)?, body) {
            Err(error) if !error.downcast_ref().is_some_and(is_done) => Err(error),
            _ => Ok(()),
        }
    }

    fn user(&mut self, mut body: Value) -> Result<()> {
        let deposits = take(&mut body, "deposits");
        let user = self.ensure(USERS, &body)?;
        for deposit in entries(&deposits) {
            self.deposit(deposit.clone(), &user["primaryWalletId"])?;
        }
        Ok(())
    }

    /// Creates, approves and confirms a deposit, or completes one of an earlier run.
    fn deposit(&mut self, mut body: Value, wallet: &Value) -> Result<()> {
        const PATH: &str = "/transactions";
        let reference = text(&body["externalReference"])?.to_owned();
        let filter = ("externalReference", reference.as_str());
        let existing = self.api.find(PATH, filter, |_| true)?;
        let mut deposit = if let Some(deposit) = existing {
            deposit
        } else {
            body["destinationWalletId"] = wallet.clone();
            body["data"] = json!({});
            *self.created.entry("deposits").or_default() += 1;
            let path = format!("{PATH}/deposit");
            self.api.post(&path, &reference, &body)?
        };
        let path = format!("{PATH}/{}", text(&deposit["id"])?);
        for (state, action) in [("pending", "approve"), ("processing", "confirm")] {
            if deposit["status"] == state {
                let path = format!("{path}/{action}");
                deposit = self.api.post(&path, &reference, &json!({}))?;
            }
        }
        Ok(())
    }

    fn task(&mut self, mut body: Value) -> Result<()> {
        let users = take(&mut body, "completedBy");
        let task = self.ensure(TASKS, &body)?;
        for user in entries(&users) {
            let path = format!("/tasks/{}/complete", text(&task["id"])?);
            let body = json!({ "userId": self.id(USERS, user)? });
            self.post_once(&path, user, &body, "task_already_completed")?;
        }
        Ok(())
    }

    /// Creates an order and takes it through its steps. An existing one stays as it is; it is found by
    /// its custom data, because the service generates its public reference.
    fn order(&mut self, mut body: Value) -> Result<()> {
        const PATH: &str = "/orders";
        let (reference, user) = (take(&mut body, "reference"), take(&mut body, "user"));
        let (name, steps) = (text(&reference)?, take(&mut body, "then"));
        let user = self.id(USERS, &user)?;
        let matches = |order: &Value| order["customData"]["demo"] == reference;
        if self.api.find(PATH, ("userId", user), matches)?.is_some() {
            return Ok(());
        }
        body["userId"] = user.into();
        body["customData"] = json!({ "demo": reference });
        let lines = entries(&body["lines"]).map(|line| self.line(line.clone()));
        body["lines"] = lines.collect::<Result<Value>>()?;
        let order = self.api.post(PATH, name, &body)?;
        for step in entries(&steps) {
            let path = format!("{PATH}/{}/{}", text(&order["id"])?, text(&step[0])?);
            self.api.post(&path, name, &step[1])?;
        }
        *self.created.entry("orders").or_default() += 1;
        Ok(())
    }

    fn line(&self, mut line: Value) -> Result<Value> {
        let (product, answers) = (take(&mut line, "product"), take(&mut line, "answers"));
        line["productId"] = self.id(PRODUCTS, &product)?.into();
        let answers = answers.as_object().into_iter().flatten();
        let results = answers.map(|(question, answer)| {
            let id = self.id(QUESTIONS, &question.as_str().into())?;
            Ok((id.to_owned(), answer.clone()))
        });
        line["productQuestionsResult"] = results.collect::<Result<Map<_, _>>>()?.into();
        Ok(line)
    }
}

/// Removes an entry that is no field of the request's body.
fn take(body: &mut Value, key: &str) -> Value {
    let taken = body.as_object_mut().and_then(|body| body.remove(key));
    taken.unwrap_or_default()
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> Result<&str> {
    let text = value.as_str();
    text.with_context(|| format!("{value} is not a string"))
}
