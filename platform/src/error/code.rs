//! The table of error codes. The text of a published code never changes; those that only travel between
//! services are internal, and no client sees them.

use std::fmt;

use http::StatusCode as Http;
use tonic::Code as Grpc;

/// Expands the table below, one row for each code, to [`Code`] and its accessors.
macro_rules! codes {
    (public { $($public:tt)+ } internal { $($internal:tt)+ }) => {
        codes!(@list PUBLIC "The codes of the public API in the order of the table." $($public)+);
        codes!(@list INTERNAL "The codes that only travel between services." $($internal)+);
        codes!(@table $($public)+ $($internal)+);
    };
    (@list $list:ident $about_list:literal
     $(#[doc = $about:literal] $name:ident = $text:literal, $grpc:ident, $http:ident, $title:literal;)+) => {
        impl Code {
            #[doc = $about_list]
            pub const $list: &[Self] = &[$(Self::$name),+];
        }
    };
    (@table $(#[doc = $about:literal] $name:ident = $text:literal, $grpc:ident, $http:ident, $title:literal;)+) => {
        /// An error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $about] $name,)+
        }

        impl Code {

            /// Returns the text of the code.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }

            /// Returns the gRPC status, which is used between processes.
            pub const fn grpc(self) -> Grpc {
                match self { $(Self::$name => Grpc::$grpc),+ }
            }

            /// Returns the HTTP status of the public API; of an internal code, that of a fault.
            pub const fn http(self) -> Http {
                match self { $(Self::$name => Http::$http),+ }
            }

            /// Returns the title of a problem document.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title),+ }
            }

            /// Returns a sentence that describes the code.
            pub fn about(self) -> &'static str {
                match self { $(Self::$name => $about.trim_ascii()),+ }
            }
        }
    };
}

codes! {
public {
    /// The head of the request breaks a rule of HTTP; a request has one `Host`.
    MalformedRequest = "malformed_request", InvalidArgument, BAD_REQUEST, "Malformed request";
    /// The body is not JSON, or is empty where one is needed.
    MalformedJson = "malformed_json", InvalidArgument, BAD_REQUEST, "Malformed JSON";
    /// A filter, sort, include or page parameter is not one of those allowed.
    InvalidQuery = "invalid_query", InvalidArgument, BAD_REQUEST, "Invalid query";
    /// The Idempotency-Key header is not 1 to 255 printable characters.
    InvalidIdempotencyKey = "invalid_idempotency_key", InvalidArgument, BAD_REQUEST, "Invalid idempotency key";

    /// The request carries no credentials, or ones that are not valid.
    Unauthenticated = "unauthenticated", Unauthenticated, UNAUTHORIZED, "Not authenticated";
    /// The caller is known but may not do this.
    Forbidden = "forbidden", PermissionDenied, FORBIDDEN, "Forbidden";

    /// No such route.
    RouteNotFound = "route_not_found", NotFound, NOT_FOUND, "Route not found";
    /// No such product.
    ProductNotFound = "product_not_found", NotFound, NOT_FOUND, "Product not found";
    /// The product has no link to this question.
    ProductQuestionNotFound = "product_question_not_found", NotFound, NOT_FOUND, "Product question not found";
    /// No such question.
    QuestionNotFound = "question_not_found", NotFound, NOT_FOUND, "Question not found";
    /// No such category.
    CategoryNotFound = "category_not_found", NotFound, NOT_FOUND, "Category not found";
    /// No such tax rate.
    TaxRateNotFound = "tax_rate_not_found", NotFound, NOT_FOUND, "Tax rate not found";
    /// No such order.
    OrderNotFound = "order_not_found", NotFound, NOT_FOUND, "Order not found";
    /// No such line in the order.
    OrderLineNotFound = "order_line_not_found", NotFound, NOT_FOUND, "Order line not found";
    /// No such wallet.
    WalletNotFound = "wallet_not_found", NotFound, NOT_FOUND, "Wallet not found";
    /// No such asset.
    AssetNotFound = "asset_not_found", NotFound, NOT_FOUND, "Asset not found";
    /// No rate is recorded for this pair of assets.
    RateNotFound = "rate_not_found", NotFound, NOT_FOUND, "Rate not found";
    /// No such address.
    AddressNotFound = "address_not_found", NotFound, NOT_FOUND, "Address not found";
    /// No such transaction.
    TransactionNotFound = "transaction_not_found", NotFound, NOT_FOUND, "Transaction not found";
    /// No such movement.
    MovementNotFound = "movement_not_found", NotFound, NOT_FOUND, "Movement not found";
    /// No such payment method.
    PaymentMethodNotFound = "payment_method_not_found", NotFound, NOT_FOUND, "Payment method not found";
    /// No such user.
    UserNotFound = "user_not_found", NotFound, NOT_FOUND, "User not found";
    /// No such invite.
    InviteNotFound = "invite_not_found", NotFound, NOT_FOUND, "Invite not found";
    /// No such task.
    TaskNotFound = "task_not_found", NotFound, NOT_FOUND, "Task not found";
    /// No such API key.
    ApiKeyNotFound = "api_key_not_found", NotFound, NOT_FOUND, "API key not found";
    /// No such webhook.
    WebhookNotFound = "webhook_not_found", NotFound, NOT_FOUND, "Webhook not found";
    /// The webhook has no such delivery.
    WebhookDeliveryNotFound = "webhook_delivery_not_found", NotFound, NOT_FOUND, "Webhook delivery not found";

    /// The route exists, but not with this method; `Allow` lists those it has.
    MethodNotAllowed = "method_not_allowed", Unimplemented, METHOD_NOT_ALLOWED, "Method not allowed";
    /// None of the media types the client accepts can be produced.
    NotAcceptable = "not_acceptable", InvalidArgument, NOT_ACCEPTABLE, "Not acceptable";
    /// A condition in the request's headers does not hold.
    PreconditionFailed = "precondition_failed", FailedPrecondition, PRECONDITION_FAILED, "Precondition failed";
    /// The body is larger than 1 MiB.
    PayloadTooLarge = "payload_too_large", InvalidArgument, PAYLOAD_TOO_LARGE, "Payload too large";
    /// The URL is longer than 32 KiB.
    UriTooLong = "uri_too_long", InvalidArgument, URI_TOO_LONG, "URI too long";
    /// The body is not `application/json`, or is compressed.
    UnsupportedMediaType = "unsupported_media_type", InvalidArgument, UNSUPPORTED_MEDIA_TYPE, "Unsupported media type";
    /// The header block is larger than 32 KiB.
    HeadersTooLarge = "headers_too_large", InvalidArgument, REQUEST_HEADER_FIELDS_TOO_LARGE, "Headers too large";

    /// The state of the resource does not allow this action.
    InvalidState = "invalid_state", FailedPrecondition, CONFLICT, "Invalid state";
    /// The email belongs to another user.
    EmailTaken = "email_taken", AlreadyExists, CONFLICT, "Email taken";
    /// The code belongs to another asset.
    CodeTaken = "code_taken", AlreadyExists, CONFLICT, "Code taken";
    /// The address is recorded already for this asset.
    AddressTaken = "address_taken", AlreadyExists, CONFLICT, "Address taken";
    /// The wallet belongs to another user.
    PrimaryWalletIdTaken = "primary_wallet_id_taken", AlreadyExists, CONFLICT, "Primary wallet taken";
    /// Products are filed under the category.
    CategoryInUse = "category_in_use", FailedPrecondition, CONFLICT, "Category in use";
    /// Products are taxed by the tax rate.
    TaxRateInUse = "tax_rate_in_use", FailedPrecondition, CONFLICT, "Tax rate in use";
    /// Products ask the question.
    QuestionInUse = "question_in_use", FailedPrecondition, CONFLICT, "Question in use";
    /// The product asks the question already.
    QuestionAlreadyLinked = "question_already_linked", AlreadyExists, CONFLICT, "Question already linked";
    /// A rate for this pair of assets is recorded already.
    RateExists = "rate_exists", AlreadyExists, CONFLICT, "Rate exists";
    /// A system asset changes only in `enabled`, `customData` and `logo`.
    AssetReadOnly = "asset_read_only", FailedPrecondition, CONFLICT, "Asset is read-only";
    /// Decimal places of an asset that has been used are never lowered.
    DecimalPlacesInUse = "decimal_places_in_use", FailedPrecondition, CONFLICT, "Decimal places in use";
    /// A payment, cancellation or refund of the order is in progress.
    OrderBusy = "order_busy", Aborted, CONFLICT, "Order busy";
    /// The user has completed the task before.
    TaskAlreadyCompleted = "task_already_completed", AlreadyExists, CONFLICT, "Task already completed";
    /// The first request with this idempotency key is still running.
    IdempotencyKeyInUse = "idempotency_key_in_use", Aborted, CONFLICT, "Idempotency key in use";

    /// The body is well-formed, but fields of it are not; `errors` names each.
    ValidationFailed = "validation_failed", InvalidArgument, UNPROCESSABLE_ENTITY, "Validation failed";
    /// The wallet holds less than is needed.
    InsufficientFunds = "insufficient_funds", FailedPrecondition, UNPROCESSABLE_ENTITY, "Insufficient funds";
    /// The wallet accepts no new transaction.
    WalletLocked = "wallet_locked", FailedPrecondition, UNPROCESSABLE_ENTITY, "Wallet locked";
    /// The asset accepts no new transaction.
    AssetDisabled = "asset_disabled", FailedPrecondition, UNPROCESSABLE_ENTITY, "Asset disabled";
    /// The product cannot be ordered.
    ProductUnavailable = "product_unavailable", FailedPrecondition, UNPROCESSABLE_ENTITY, "Product unavailable";
    /// The product is sold to verified users only.
    IdentityRequired = "identity_required", FailedPrecondition, UNPROCESSABLE_ENTITY, "Identity required";
    /// The product is sold one at a time.
    QuantityNotAllowed = "quantity_not_allowed", FailedPrecondition, UNPROCESSABLE_ENTITY, "Quantity not allowed";
    /// No rate leads from one asset to the other.
    NoRate = "rate_not_found", FailedPrecondition, UNPROCESSABLE_ENTITY, "Rate not found";
    /// The lines of an order are priced in different assets.
    MixedAssets = "mixed_assets", FailedPrecondition, UNPROCESSABLE_ENTITY, "Mixed assets";
    /// The payment is more than what is unpaid.
    PaymentExceedsUnpaid = "payment_exceeds_unpaid", FailedPrecondition, UNPROCESSABLE_ENTITY, "Payment exceeds unpaid";
    /// The refund is more than what was paid.
    RefundExceedsPaid = "refund_exceeds_paid", FailedPrecondition, UNPROCESSABLE_ENTITY, "Refund exceeds paid";
    /// The amount, or a sum it leads to, is outside what can be kept.
    AmountOutOfRange = "amount_out_of_range", OutOfRange, UNPROCESSABLE_ENTITY, "Amount out of range";
    /// The invite or referral code is unknown, expired, canceled or used.
    InviteInvalid = "invite_invalid", FailedPrecondition, UNPROCESSABLE_ENTITY, "Invite invalid";
    /// The amount has more decimals than its asset.
    AmountPrecision = "amount_precision", InvalidArgument, UNPROCESSABLE_ENTITY, "Amount precision";
    /// The idempotency key was used with another body.
    IdempotencyKeyReused = "idempotency_key_reused", FailedPrecondition, UNPROCESSABLE_ENTITY, "Idempotency key reused";

    /// Too many requests; wait as long as `Retry-After` says.
    RateLimited = "rate_limited", ResourceExhausted, TOO_MANY_REQUESTS, "Rate limited";
    /// The service, or one it needs, cannot answer now; try again.
    Unavailable = "unavailable", Unavailable, SERVICE_UNAVAILABLE, "Unavailable";
    /// The answer took too long; the request may still have had its effect.
    Timeout = "timeout", DeadlineExceeded, GATEWAY_TIMEOUT, "Timeout";
    /// A fault on our side, never the input's.
    Internal = "internal", Internal, INTERNAL_SERVER_ERROR, "Internal error";
}
internal {
    /// The time in which the ledger operation could be accepted is over, and it had no effect.
    OperationExpired = "operation_expired", FailedPrecondition, INTERNAL_SERVER_ERROR, "Operation expired";
}
}

impl Code {
    /// Returns all codes.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        Self::PUBLIC.iter().chain(Self::INTERNAL).copied()
    }

    /// Returns whether clients may see the code. An internal one that nobody has handled is a fault.
    pub fn is_public(self) -> bool {
        Self::PUBLIC.contains(&self)
    }

    /// Finds the code with this text and gRPC status. The text alone is ambiguous: `rate_not_found` is
    /// both a missing resource and a rejection.
    pub fn find(text: &str, grpc: Grpc) -> Option<Self> {
        Self::all().find(|code| code.as_str() == text && code.grpc() == grpc)
    }

    /// Returns whether a retry of the same request may succeed.
    pub const fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Unavailable
                | Self::Timeout
                | Self::OrderBusy
                | Self::IdempotencyKeyInUse
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_unique_by_text_and_grpc_status() {
        let pairs: HashSet<_> = Code::all()
            .map(|code| (code.as_str(), code.grpc()))
            .collect();
        assert_eq!(pairs.len(), Code::all().count());
        for code in Code::all() {
            assert_eq!(Code::find(code.as_str(), code.grpc()), Some(code));
            assert!(code.about().ends_with('.'), "{code} has no sentence");
        }
    }

    #[test]
    fn clients_see_public_codes_only() {
        assert!(!Code::OperationExpired.is_public());
        assert!(Code::OrderBusy.is_public());
        for code in Code::all() {
            let is_fault = code.http().is_server_error();
            assert!(code.is_public() || is_fault, "{code}");
        }
    }
}
