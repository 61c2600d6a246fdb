//! catalog-svc: quotes.

use platform::{
    clock::from_proto,
    error::FieldCode,
    grpc::client::Client,
    money::{DecimalPlaces, Percent},
};
use proto::catalog::v1::{
    AnswerError, CategorySnapshot, ProductSnapshot, QuoteLine, QuoteRequest, QuoteRequestLine,
    catalog_quote_service_client::CatalogQuoteServiceClient,
};

use super::{amount, failed, malformed};
use crate::{
    error::Error,
    order::model::{AnswerFault, Category, NewLine, Product, Quote},
};

#[derive(Debug, Clone)]
pub(crate) struct Catalog(CatalogQuoteServiceClient<Client>);

impl Catalog {
    pub(crate) fn new(client: &Client) -> Self {
        Self(client.service())
    }

    /// Quotes each line at current prices; `None` for an unknown product.
    pub(crate) async fn quote(&self, lines: &[NewLine]) -> Result<Vec<Option<Quote>>, Error> {
        let request = QuoteRequest {
            lines: lines
                .iter()
                .map(|line| QuoteRequestLine {
                    product_id: line.product_id.to_string(),
                    quantity: line.quantity.unsigned_abs(),
                    answers: line.answers.clone(),
                })
                .collect(),
        };
        let response = self.0.clone().quote(request).await;
        let quoted = response.map_err(|status| failed(&status))?.into_inner();
        if quoted.lines.len() != lines.len() {
            return Err(Error::internal("Quote returned another number of lines"));
        }
        quoted.lines.into_iter().map(quote).collect()
    }
}

fn quote(line: QuoteLine) -> Result<Option<Quote>, Error> {
    let Some(product) = line.product else {
        return Ok(None);
    };
    let tax_rate = line.tax_rate.as_deref().map(Percent::parse);
    Ok(Some(Quote {
        product: snapshot(product),
        asset_decimal_places: DecimalPlaces::new(line.asset_decimal_places.into())
            .map_err(malformed)?,
        asset_code: line.asset_code,
        unit_price: amount(&line.unit_price)?,
        tax_rate: tax_rate.transpose().map_err(malformed)?,
        unit_tax: amount(&line.unit_tax)?,
        unit_bonus: amount(&line.unit_bonus)?,
        available: line.available,
        allow_choosing_quantity: line.allow_choosing_quantity,
        requires_identity: line.requires_identity,
        visible: line.visible.unwrap_or(true),
        answer_faults: line.answer_errors.into_iter().map(answer_fault).collect(),
    }))
}

fn answer_fault(error: AnswerError) -> AnswerFault {
    AnswerFault {
        path: error.path,
        code: FieldCode::find(&error.code).unwrap_or(FieldCode::Format),
        message: error.message,
    }
}

fn snapshot(product: ProductSnapshot) -> Product {
    Product {
        name: product.name,
        description: product.description,
        type_code: product.type_code,
        image: product.image_url,
        thumbnail: product.thumbnail_url,
        custom_data: product.custom_data,
        metadata: product.metadata,
        category: product.category.map(category),
    }
}

fn category(category: CategorySnapshot) -> Category {
    Category {
        id: category.id,
        title: category.title,
        description: category.description,
        image_url: category.image_url,
        custom_data: category.custom_data,
        created_at: category.created_at.as_ref().and_then(from_proto),
        updated_at: category.updated_at.as_ref().and_then(from_proto),
    }
}
