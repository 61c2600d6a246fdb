//! Every route leads to its RPC.

use crate::{harness::TestApp, operations};

/// Calls every operation: its status, and the RPCs that it led to.
async fn call_all(app: &TestApp) -> String {
    let mut lines = Vec::new();
    for operation in operations::all() {
        let exchange = app.exchange(operation.request(app)).await;
        let (method, path, status) = (&operation.method, &operation.path, exchange.status);
        assert_eq!(
            status, operation.success,
            "{method} {path}: {}",
            exchange.body
        );
        let mut rpcs: Vec<_> = exchange.calls.iter().map(|call| &*call.rpc).collect();
        // Some run at the same time.
        rpcs.sort_unstable();
        lines.push(format!("{method} {path} {status}: {}", rpcs.join(", ")));
    }
    lines.join("\n")
}

#[expect(clippy::too_many_lines, reason = "one line a route")]
#[tokio::test]
async fn every_operation_calls_its_rpcs_and_responds_with_its_documented_status() {
    let app = TestApp::start().await;
    insta::assert_snapshot!(call_all(&app).await, @r"
    GET /.well-known/jwks.json 200: AuthService/GetJwks
    GET /addresses 200: AddressService/ListAddresses
    POST /addresses 201: AddressService/CreateAddress
    GET /addresses/{address} 200: AddressService/GetAddress
    GET /api-keys 200: ApiKeyService/ListApiKeys
    POST /api-keys 201: ApiKeyService/CreateApiKey
    DELETE /api-keys/{id} 204: ApiKeyService/DeleteApiKey
    GET /api-keys/{id} 200: ApiKeyService/GetApiKey
    GET /assets 200: AssetService/ListAssets
    POST /assets 201: AssetService/CreateAsset
    GET /assets/{code} 200: AssetService/GetAsset
    PATCH /assets/{code} 200: AssetService/UpdateAsset
    GET /audit-log 200: AuditService/ListAuditLog, AuditService/ListAuditLog, AuditService/ListAuditLog, AuditService/ListAuditLog
    POST /auth/token 200: AuthService/LogIn
    POST /auth/token/refresh 200: AuthService/RefreshToken
    POST /auth/token/revoke 204: AuthService/RevokeRefreshToken
    POST /auth/token/validate 200: AuthService/ValidateToken
    GET /categories 200: CategoryService/ListCategories
    POST /categories 201: CategoryService/CreateCategory
    DELETE /categories/{id} 204: CategoryService/DeleteCategory
    GET /categories/{id} 200: CategoryService/GetCategory
    PATCH /categories/{id} 200: CategoryService/UpdateCategory
    POST /categories/{id}/reorder 204: CategoryService/ReorderCategory
    GET /events 200: EventService/WatchEvents
    GET /invites 200: InviteService/ListInvites
    POST /invites 201: InviteService/CreateInvite
    POST /invites/send 204: InviteService/SendInvites
    GET /invites/{code} 200: InviteService/GetInvite
    POST /invites/{code}/cancel 200: InviteService/CancelInvite
    GET /invites/{code}/validate 200: InviteService/ValidateInvite
    GET /movements 200: MovementService/ListMovements
    GET /movements/{id} 200: MovementService/GetMovement
    PATCH /order/{id} 200: OrderService/UpdateOrder, UserService/BatchGetUsers
    GET /orders 200: OrderService/ListOrders, UserService/BatchGetUsers
    POST /orders 201: OrderService/CreateOrder
    GET /orders/{id} 200: OrderService/GetOrder, UserService/BatchGetUsers
    PATCH /orders/{id} 200: OrderService/UpdateOrder, UserService/BatchGetUsers
    POST /orders/{id} 200: OrderService/CancelOrder
    POST /orders/{id}/cancel 200: OrderService/CancelOrder
    POST /orders/{id}/fulfill 200: OrderService/FulfillOrder
    GET /orders/{id}/history 200: OrderHistoryService/ListOrderHistory
    POST /orders/{id}/notes 201: OrderHistoryService/CreateOrderNote
    POST /orders/{id}/pay 200: OrderService/PayOrder
    GET /orders/{id}/payments 200: OrderHistoryService/ListOrderPayments
    GET /orders/{id}/receipt 200: OrderHistoryService/GetOrderReceipt, UserService/BatchGetUsers
    POST /orders/{id}/refund 200: OrderService/RefundOrder
    POST /orders/{id}/unfulfill 200: OrderService/UnfulfillOrder
    GET /orders/{orderId}/lines 200: OrderLineService/ListOrderLines
    GET /orders/{orderId}/lines/{id} 200: OrderLineService/GetOrderLine, OrderService/GetOrder
    POST /orders/{orderId}/lines/{id}/fulfill 200: OrderLineFulfilmentService/FulfillOrderLine
    POST /orders/{orderId}/lines/{id}/unfulfill 200: OrderLineFulfilmentService/UnfulfillOrderLine
    GET /payment-methods 200: PaymentMethodService/ListPaymentMethods
    GET /payment-methods/{slug} 200: PaymentMethodService/GetPaymentMethod
    GET /products 200: ProductService/ListProducts
    POST /products 201: ProductService/CreateProduct
    GET /products/export 200: ProductService/ExportProducts
    POST /products/import 200: ProductService/ImportProducts
    DELETE /products/{id} 204: ProductService/DeleteProduct
    GET /products/{id} 200: ProductService/GetProduct
    PATCH /products/{id} 200: ProductService/UpdateProduct
    POST /products/{id}/questions 201: ProductQuestionService/CreateProductQuestion
    POST /products/{id}/reorder 204: ProductService/ReorderProduct
    DELETE /products/{productId}/questions/{id} 204: ProductQuestionService/DeleteProductQuestion
    POST /products/{productId}/questions/{id}/reorder 204: ProductQuestionService/ReorderProductQuestion
    GET /question-types 200: QuestionService/ListQuestionTypes
    GET /questions 200: QuestionService/ListQuestions
    POST /questions 201: QuestionService/CreateQuestion
    DELETE /questions/{id} 204: QuestionService/DeleteQuestion
    GET /questions/{id} 200: QuestionService/GetQuestion
    PATCH /questions/{id} 200: QuestionService/UpdateQuestion
    GET /rates 200: RateService/ListRates
    POST /rates 201: RateService/CreateRate
    DELETE /rates/{baseAssetCode}/{quoteAssetCode} 204: RateService/DeleteRate
    GET /rates/{baseAssetCode}/{quoteAssetCode} 200: RateService/GetRate
    PATCH /rates/{baseAssetCode}/{quoteAssetCode} 200: RateService/UpdateRate
    GET /tasks 200: TaskService/ListTasks
    POST /tasks 201: TaskService/CreateTask
    DELETE /tasks/{id} 204: TaskService/DeleteTask
    GET /tasks/{id} 200: TaskService/GetTask
    PATCH /tasks/{id} 200: TaskService/UpdateTask
    POST /tasks/{id}/complete 200: TaskService/CompleteTask
    GET /tasks/{id}/completions 200: TaskService/ListTaskCompletions
    POST /tasks/{id}/reorder 204: TaskService/ReorderTask
    GET /tax-rates 200: TaxRateService/ListTaxRates
    POST /tax-rates 201: TaxRateService/CreateTaxRate
    DELETE /tax-rates/{id} 204: TaxRateService/DeleteTaxRate
    GET /tax-rates/{id} 200: TaxRateService/GetTaxRate
    PATCH /tax-rates/{id} 200: TaxRateService/UpdateTaxRate
    GET /transactions 200: TransactionService/ListTransactions
    POST /transactions/deposit 201: TransactionService/CreateDeposit
    POST /transactions/exchange 201: TransactionService/CreateExchange
    POST /transactions/pay 201: TransactionService/CreatePayment
    POST /transactions/send 201: TransactionService/SendMoney
    POST /transactions/transfer 201: TransactionService/CreateTransfer
    POST /transactions/withdrawal 201: TransactionService/CreateWithdrawal
    GET /transactions/{id} 200: TransactionService/GetTransaction
    POST /transactions/{id}/approve 200: TransactionService/ApproveTransaction
    POST /transactions/{id}/confirm 200: TransactionService/ConfirmTransaction
    POST /transactions/{id}/fail 200: TransactionService/FailTransaction
    GET /transactions/{id}/history 200: TransactionService/ListTransactionChanges
    POST /transactions/{id}/reject 200: TransactionService/RejectTransaction
    GET /users 200: UserService/ListUsers
    POST /users 201: UserService/CreateUser
    POST /users/confirm-email 204: AccountService/ConfirmEmail
    POST /users/forgot-password 204: AccountService/ForgotPassword
    POST /users/resend-confirmation 204: AccountService/ResendConfirmation
    POST /users/reset-password 204: AccountService/ResetPassword
    DELETE /users/{id} 204: UserService/DeleteUser
    GET /users/{id} 200: UserService/GetUser
    PATCH /users/{id} 200: UserService/UpdateUser
    POST /users/{id}/approve 204: UserService/ApproveUser
    POST /users/{id}/block 204: UserService/BlockUser
    POST /users/{id}/change-email 204: AccountService/ChangeEmail
    POST /users/{id}/change-password 204: UserService/ChangePassword
    GET /users/{id}/completions 200: TaskService/ListUserCompletions
    GET /users/{id}/referrals 200: UserService/ListReferrals
    POST /users/{id}/unblock 204: UserService/UnblockUser
    POST /users/{id}/unlock 204: UserService/UnblockUser
    GET /wallets 200: WalletService/ListWallets
    POST /wallets 201: WalletService/CreateWallet
    GET /wallets/activity 200: TransactionService/ListActivity
    GET /wallets/balance 200: WalletService/GetTotalBalance
    GET /wallets/{id} 200: WalletService/GetWallet
    PATCH /wallets/{id} 200: WalletService/UpdateWallet
    GET /wallets/{id}/activity 200: TransactionService/ListActivity
    GET /wallets/{id}/balance 200: WalletService/GetWalletBalance
    GET /wallets/{id}/movements 200: MovementService/ListMovements
    GET /wallets/{id}/transactions 200: TransactionService/ListTransactions
    GET /webhooks 200: WebhookService/ListWebhooks
    POST /webhooks 201: WebhookService/CreateWebhook
    DELETE /webhooks/{id} 204: WebhookService/DeleteWebhook
    GET /webhooks/{id} 200: WebhookService/GetWebhook
    PATCH /webhooks/{id} 200: WebhookService/UpdateWebhook
    GET /webhooks/{id}/deliveries 200: WebhookService/ListWebhookDeliveries
    POST /webhooks/{id}/deliveries/{deliveryId}/redeliver 200: WebhookService/RedeliverWebhook
    POST /webhooks/{id}/ping 200: WebhookService/PingWebhook
    POST /webhooks/{id}/rotate-secret 200: WebhookService/RotateWebhookSecret
    ");
}
