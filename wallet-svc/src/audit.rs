//! The entries of wallet-svc in the audit log.

/// The audit log, and the history of transactions: the ledger writes that in the statement of the
/// change, and nothing twice. The id of a change is that of its transaction with the version in the
/// last two bytes.
pub(crate) const ENTRIES: &str = "(
    select id, service, actor, action, resource_type, resource_id, trace_id, details, created_at
    from wallet.audit_log
    union all
    select encode(
               overlay(uuid_send(transaction_id) placing
                   substring(int8send(version) from 7) from 15 for 2),
               'hex')::uuid,
           'wallet-svc',
           actor,
           'transaction.' || case
               when from_status is null then 'created'
               when to_status = 'processing' then 'approved'
               else to_status
           end,
           'transaction',
           transaction_id::text,
           null,
           jsonb_build_object('from', from_status, 'to', to_status),
           created_at
    from wallet.transaction_changes) a";
