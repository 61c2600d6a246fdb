//! The kinds of things in the shop, each made with the ids of those it names.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::Tally;
use super::api::Api;

/// A kind of thing: what the tally calls it, where it is, and the field it is found by.
type Kind = (&'static str, &'static str, &'static str);

const TAX_RATES: Kind = ("tax rates", "/tax-rates", "name");
const CATEGORIES: Kind = ("categories", "/categories", "title");
const QUESTIONS: Kind = ("questions", "/questions", "title");
const PRODUCTS: Kind = ("products", "/products", "name");
const USERS: Kind = ("users", "/users", "email");
const TASKS: Kind = ("tasks", "/tasks", "name");

pub(super) struct Seeding<'a> {
    pub(super) api: &'a Api,
    /// By path and name.
    pub(super) ids: BTreeMap<(&'static str, String), String>,
    pub(super) tally: Tally,
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

    /// The thing, made where it is missing.
    fn ensure(&mut self, (kind, path, key): Kind, body: &Value) -> Result<Value> {
        let name = text(&body[key])?.to_owned();
        let found = self.api.find(path, (key, &name), |row| row[key] == *name)?;
        let thing = if let Some(thing) = found {
            thing
        } else {
            self.tally.count(kind);
            self.api.post(path, &name, body)??
        };
        let id = text(&thing["id"])?.to_owned();
        self.ids.insert((path, name), id);
        Ok(thing)
    }

    fn id(&self, (kind, path, _): Kind, name: &Value) -> Result<&str> {
        let id = self.ids.get(&(path, text(name)?.to_owned()));
        let id = id.with_context(|| format!("shop.json has no {name} among its {kind}"))?;
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
            self.once(&path, question, &body, "question_already_linked")?;
        }
        Ok(())
    }

    /// A POST that is refused with this code when it was done before.
    fn once(&self, path: &str, name: &Value, body: &Value, done: &str) -> Result<()> {
        match self.api.post(path, text(name)?, body)? {
            Err(refusal) if refusal.code != done => Err(refusal.into()),
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

    /// Money comes in as it does in a bank: announced, approved, confirmed.
    fn deposit(&mut self, mut body: Value, wallet: &Value) -> Result<()> {
        const PATH: &str = "/transactions";
        let reference = text(&body["externalReference"])?.to_owned();
        let by = ("externalReference", reference.as_str());
        let found = self.api.find(PATH, by, |_| true)?;
        let mut deposit = if let Some(deposit) = found {
            deposit
        } else {
            body["destinationWalletId"] = wallet.clone();
            body["data"] = json!({});
            self.tally.count("deposits");
            let path = format!("{PATH}/deposit");
            self.api.post(&path, &reference, &body)??
        };
        let path = format!("{PATH}/{}", text(&deposit["id"])?);
        for (state, action) in [("pending", "approve"), ("processing", "confirm")] {
            if deposit["status"] == state {
                let path = format!("{path}/{action}");
                deposit = self.api.post(&path, &reference, &json!({}))??;
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
            self.once(&path, user, &body, "task_already_completed")?;
        }
        Ok(())
    }

    /// An order that is there stays as it is, whatever has become of it. It is told by its custom
    /// data, because its public reference is made by the service.
    fn order(&mut self, mut body: Value) -> Result<()> {
        const PATH: &str = "/orders";
        let (reference, user) = (take(&mut body, "reference"), take(&mut body, "user"));
        let (name, steps) = (text(&reference)?, take(&mut body, "then"));
        let user = self.id(USERS, &user)?;
        let is_it = |order: &Value| order["customData"]["demo"] == reference;
        if self.api.find(PATH, ("userId", user), is_it)?.is_some() {
            return Ok(());
        }
        body["userId"] = user.into();
        body["customData"] = json!({ "demo": reference });
        let lines = entries(&body["lines"]).map(|line| self.line(line.clone()));
        body["lines"] = lines.collect::<Result<Value>>()?;
        let order = self.api.post(PATH, name, &body)??;
        for step in entries(&steps) {
            let path = format!("{PATH}/{}/{}", text(&order["id"])?, text(&step[0])?);
            self.api.post(&path, name, &step[1])??;
        }
        self.tally.count("orders");
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

/// Takes out what is for us, so that the rest is a request's body.
fn take(body: &mut Value, key: &str) -> Value {
    let taken = body.as_object_mut().and_then(|body| body.remove(key));
    taken.unwrap_or_default()
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> Result<&str> {
    let text = value.as_str();
    text.with_context(|| format!("{value} is no text"))
}
