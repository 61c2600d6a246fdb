//! Access to identity-svc. Users see the enabled tasks.

use super::{CATALOG, GATEWAY, ORDERS, Table, WALLET, admins, all, anyone, only, owners};

const THEMSELVES: &str = "themselves";
const OWN_INVITES: &str = "invites that they made";

/// The access to the RPCs of identity-svc.
pub const TABLE: Table = Table {
    package: "guerdon.identity.v1",
    rows: &[
        anyone("AuthService/GetJwks"),
        // The next two take a secret instead of a token, and limit wrong ones.
        anyone("AuthService/IssueServiceToken"),
        anyone("AuthService/ExchangeApiKey"),
        only(&[GATEWAY], "AuthService/IssueAnonymousToken"),
        only(&[GATEWAY], "AuthService/LogIn"),
        only(&[GATEWAY], "AuthService/RefreshToken"),
        only(&[GATEWAY], "AuthService/RevokeRefreshToken"),
        only(&[GATEWAY], "AuthService/ValidateToken"),
        only(
            &[GATEWAY, CATALOG, ORDERS, WALLET],
            "RevocationService/Watch",
        ),
        owners("UserService/GetUser", THEMSELVES).and(&[ORDERS]),
        owners("UserService/BatchGetUsers", THEMSELVES).and(&[WALLET]),
        owners("UserService/ListUsers", THEMSELVES),
        only(&[WALLET], "UserService/FindRecipient"),
        admins("UserService/CreateUser").does("user.created"),
        admins("UserService/ApproveUser").does("user.approved"),
        admins("UserService/BlockUser").does("user.blocked"),
        admins("UserService/UnblockUser").does("user.unblocked"),
        admins("ApiKeyService/CreateApiKey").does("api_key.created"),
        admins("ApiKeyService/GetApiKey"),
        admins("ApiKeyService/ListApiKeys"),
        admins("ApiKeyService/DeleteApiKey").does("api_key.revoked"),
        admins("WebhookService/CreateWebhook").does("webhook.created"),
        admins("WebhookService/GetWebhook"),
        admins("WebhookService/ListWebhooks"),
        admins("WebhookService/UpdateWebhook").does("webhook.updated"),
        admins("WebhookService/DeleteWebhook").does("webhook.deleted"),
        admins("WebhookService/RotateWebhookSecret").does("webhook.secret_rotated"),
        admins("WebhookService/PingWebhook").does("webhook.pinged"),
        admins("WebhookService/ListWebhookDeliveries"),
        admins("EventService/WatchEvents"),
        admins("WebhookService/RedeliverWebhook").does("webhook.redelivered"),
        // The handler refuses all but admins while sign-up is closed.
        all("UserService/SignUp")
            .and(&[GATEWAY])
            .does("user.created"),
        owners("UserService/ListReferrals", THEMSELVES),
        owners("UserService/UpdateUser", THEMSELVES).does("user.updated"),
        owners("UserService/ChangePassword", THEMSELVES).does("user.password_changed"),
        owners("UserService/DeleteUser", THEMSELVES).does("user.deleted"),
        owners("InviteService/CreateInvite", OWN_INVITES).does("invite.created"),
        owners("InviteService/SendInvites", OWN_INVITES).does("invite.created"),
        owners("InviteService/GetInvite", OWN_INVITES),
        owners("InviteService/ListInvites", OWN_INVITES),
        owners("InviteService/CancelInvite", OWN_INVITES).does("invite.canceled"),
        all("InviteService/ValidateInvite").and(&[GATEWAY]),
        only(&[GATEWAY], "AccountService/ForgotPassword"),
        only(&[GATEWAY], "AccountService/ResetPassword").does("user.password_reset"),
        only(&[GATEWAY], "AccountService/ResendConfirmation"),
        only(&[GATEWAY], "AccountService/ConfirmEmail").does("user.email_confirmed"),
        owners("AccountService/ChangeEmail", THEMSELVES).does("user.email_change_requested"),
        all("TaskService/GetTask"),
        all("TaskService/ListTasks"),
        admins("TaskService/CreateTask").does("task.created"),
        admins("TaskService/UpdateTask").does("task.updated"),
        admins("TaskService/DeleteTask").does("task.deleted"),
        admins("TaskService/ReorderTask").does("task.updated"),
        admins("TaskService/CompleteTask").does("task.completed"),
        admins("TaskService/ListTaskCompletions"),
        owners("TaskService/ListUserCompletions", "their own completions"),
    ],
};
