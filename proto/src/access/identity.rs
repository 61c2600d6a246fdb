//! Access to identity-svc. Users see the enabled tasks.

use super::{GATEWAY, ORDERS, Table, WALLET, admins, all, anyone, only, owners};

const THEMSELVES: &str = "themselves";

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
        owners("UserService/GetUser", THEMSELVES).and(&[ORDERS]),
        owners("UserService/BatchGetUsers", THEMSELVES).and(&[WALLET]),
        owners("UserService/ListUsers", THEMSELVES),
        admins("UserService/CreateUser"),
        admins("UserService/ApproveUser"),
        admins("UserService/BlockUser"),
        admins("UserService/UnblockUser"),
        all("TaskService/GetTask"),
        all("TaskService/ListTasks"),
        admins("TaskService/CreateTask"),
        admins("TaskService/UpdateTask"),
        admins("TaskService/DeleteTask"),
        admins("TaskService/ReorderTask"),
        admins("TaskService/CompleteTask"),
        admins("TaskService/ListTaskCompletions"),
        owners("TaskService/ListUserCompletions", "their own completions"),
    ],
};
