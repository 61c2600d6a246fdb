//! The wire contract between Guerdon's processes: every `.proto`, generated once.
//!
//! Module paths follow the packages: `guerdon.wallet.v1` is [`wallet::v1`].

#![warn(missing_docs)]
#![expect(
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated services carry allow attributes"
)]

/// The code of one package; what its items mean is said in the `.proto` file.
macro_rules! package {
    ($context:ident, $name:literal) => {
        #[doc = concat!("Package `", $name, "`.")]
        pub mod $context {
            #[doc = concat!("Package `", $name, "`.")]
            #[expect(missing_docs, reason = "the .proto files carry the comments")]
            #[expect(clippy::pedantic, reason = "generated code")]
            pub mod v1 {
                tonic::include_proto!($name);
            }
        }
    };
}

pub mod access;
pub mod lists;
pub mod reference;
pub mod services;

package!(common, "guerdon.common.v1");
package!(audit, "guerdon.audit.v1");
package!(catalog, "guerdon.catalog.v1");
package!(orders, "guerdon.orders.v1");
package!(wallet, "guerdon.wallet.v1");
package!(identity, "guerdon.identity.v1");
package!(events, "guerdon.events.v1");

/// The encoded `FileDescriptorSet` of every package, for gRPC reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
