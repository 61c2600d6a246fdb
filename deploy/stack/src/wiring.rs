//! Who listens where and which settings each process gets. Pure: starts nothing.

use anyhow::{Context, Result};

use crate::database::url_with;
use crate::ports::Ports;
use crate::secrets::Secrets;
use crate::service::{Auth, GATEWAY, Replicas, Service};

/// A pair of variable and value.
pub type Variable = (String, String);

/// One process to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// `wallet-svc`, `wallet-svc-2`.
    pub name: String,
    /// The service it is a replica of; none for the gateway.
    pub service: Option<Service>,
    /// Where it serves gRPC, or REST.
    pub port: u16,
    /// Where it serves `/readyz` and `/metrics`.
    pub metrics_port: u16,
}

impl Instance {
    /// The name of the executable.
    pub fn program(&self) -> &'static str {
        self.service.map_or(GATEWAY, Service::program)
    }
}

/// Everything that the processes of one stack must agree on.
#[derive(Debug, Clone)]
pub struct Wiring {
    /// The processes, the gateway last.
    pub instances: Vec<Instance>,
    /// Who may call.
    pub auth: Auth,
    /// Where spans go.
    pub otlp: Option<String>,
    /// Keys and passwords.
    pub secrets: Secrets,
    /// The message broker.
    pub nats_url: String,
    /// The superuser's URL.
    pub postgres_url: String,
    /// The name of the database.
    pub database: String,
    /// Of the roles; their own name without one.
    pub role_password: Option<String>,
}

/// The processes of a stack on free ports; `usual` prefers the documented ones.
pub fn instances(
    ports: &mut Ports,
    rest: Option<u16>,
    replicas: &Replicas,
    usual: bool,
) -> Result<Vec<Instance>> {
    let mut instances = Vec::new();
    for service in Service::ALL {
        for number in 1..=replicas.get(&service).copied().unwrap_or(1) {
            let suffix = if number == 1 {
                String::new()
            } else {
                format!("-{number}")
            };
            let name = format!("{}{suffix}", service.program());
            let wish = (usual && number == 1).then(|| service.usual_port());
            let port = ports.give(&name, wish)?;
            let metrics_port = ports.give(&format!("{name} metrics"), None)?;
            instances.push(Instance {
                name,
                service: Some(service),
                port,
                metrics_port,
            });
        }
    }
    let port = ports.give(GATEWAY, rest)?;
    instances.push(Instance {
        name: GATEWAY.to_owned(),
        service: None,
        port,
        metrics_port: port,
    });
    Ok(instances)
}

impl Wiring {
    /// The process called `name`.
    pub fn instance(&self, name: &str) -> Result<&Instance> {
        let found = self.instances.iter().find(|instance| instance.name == name);
        found.with_context(|| format!("there is no process {name}"))
    }

    /// The REST address.
    pub fn rest_url(&self) -> String {
        let gateway = self
            .instances
            .iter()
            .find(|instance| instance.service.is_none());
        format!(
            "http://127.0.0.1:{}",
            gateway.map_or(0, |gateway| gateway.port)
        )
    }

    /// The gRPC address of a service (of its first replica).
    pub fn grpc_url(&self, service: Service) -> String {
        let first = self
            .instances
            .iter()
            .find(|instance| instance.service == Some(service));
        format!("http://127.0.0.1:{}", first.map_or(0, |first| first.port))
    }

    /// The database as a service's app role sees it.
    pub fn app_url(&self, service: Service) -> Result<String> {
        self.role_url(&service.app_role())
    }

    /// The database as the superuser sees it.
    pub fn admin_url(&self) -> Result<String> {
        url_with(&self.postgres_url, None, &self.database)
    }

    fn role_url(&self, role: &str) -> Result<String> {
        let password = self.role_password.as_deref().unwrap_or(role);
        url_with(&self.postgres_url, Some((role, password)), &self.database)
    }

    /// The settings of one process.
    pub fn environment(&self, instance: &Instance) -> Result<Vec<Variable>> {
        let mut env = self.common_environment();
        let here = |port: u16| format!("127.0.0.1:{port}");
        let Some(service) = instance.service else {
            env.push(("GATEWAY_LISTEN".to_owned(), here(instance.port)));
            return Ok(env);
        };
        env.push(("NATS_URL".to_owned(), self.nats_url.clone()));
        env.push((service.variable("LISTEN"), here(instance.port)));
        env.push((
            service.variable("METRICS_LISTEN"),
            here(instance.metrics_port),
        ));
        env.push((service.variable("DATABASE_URL"), self.app_url(service)?));
        if service == Service::Identity {
            env.push((
                "IDENTITY_SIGNING_KEY".to_owned(),
                self.secrets.signing_key.clone(),
            ));
            env.push(("BOOTSTRAP_API_KEY".to_owned(), self.secrets.api_key.clone()));
        }
        if matches!(service, Service::Catalog | Service::Identity) {
            env.push((
                "MEDIA_BASE_URL".to_owned(),
                format!("{}/media/", self.rest_url()),
            ));
        }
        Ok(env)
    }

    /// The settings of `<svc> migrate`: alone in knowing the owner role.
    pub fn migration_environment(
        &self,
        instance: &Instance,
        service: Service,
    ) -> Result<Vec<Variable>> {
        let mut env = self.environment(instance)?;
        env.push((
            service.variable("OWNER_DATABASE_URL"),
            self.role_url(&service.owner_role())?,
        ));
        Ok(env)
    }

    fn common_environment(&self) -> Vec<Variable> {
        let mut env = vec![
            ("AUTH".to_owned(), self.auth.as_str().to_owned()),
            (
                "SERVICE_SECRET".to_owned(),
                self.secrets.service_secret.clone(),
            ),
        ];
        env.extend(
            Service::ALL.map(|service| (service.variable("GRPC_URL"), self.grpc_url(service))),
        );
        if let Some(otlp) = &self.otlp {
            env.push(("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), otlp.clone()));
            env.push(("TRACE_SAMPLE_RATIO".to_owned(), "1".to_owned()));
        }
        env
    }

    /// What a person's shell wants to know.
    pub fn exports(&self) -> Result<Vec<Variable>> {
        let mut exports = vec![
            ("GUERDON_URL".to_owned(), self.rest_url()),
            ("GUERDON_API_KEY".to_owned(), self.secrets.api_key.clone()),
        ];
        for service in Service::ALL {
            exports.push((service.variable("GRPC_URL"), self.grpc_url(service)));
            exports.push((service.variable("DATABASE_URL"), self.app_url(service)?));
        }
        for instance in self
            .instances
            .iter()
            .filter(|instance| instance.service.is_some())
        {
            let name = instance
                .name
                .replace("-svc", "")
                .replace('-', "_")
                .to_uppercase();
            let url = format!("http://127.0.0.1:{}", instance.metrics_port);
            exports.push((format!("{name}_METRICS_URL"), url));
        }
        exports.push(("DATABASE_URL".to_owned(), self.admin_url()?));
        exports.push(("NATS_URL".to_owned(), self.nats_url.clone()));
        Ok(exports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wiring(replicas: &Replicas) -> Wiring {
        Wiring {
            instances: instances(&mut Ports::passing(), None, replicas, false).unwrap(),
            auth: Auth::Required,
            otlp: None,
            secrets: Secrets::generate(),
            nats_url: "nats://127.0.0.1:1".to_owned(),
            postgres_url: "postgres://postgres@127.0.0.1:2/postgres".to_owned(),
            database: "guerdon".to_owned(),
            role_password: None,
        }
    }

    fn value(env: &[Variable], name: &str) -> Option<String> {
        env.iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    }

    #[test]
    fn a_service_knows_its_own_schema_and_no_other() {
        let wiring = wiring(&Replicas::new());
        let orders = &wiring.instances[1];
        let env = wiring.environment(orders).unwrap();
        let url = "postgres://guerdon_orders_app:guerdon_orders_app@127.0.0.1:2/guerdon";
        assert_eq!(value(&env, "ORDERS_DATABASE_URL").as_deref(), Some(url));
        assert_eq!(value(&env, "WALLET_DATABASE_URL"), None);
        assert_eq!(value(&env, "ORDERS_OWNER_DATABASE_URL"), None);
        assert_eq!(value(&env, "IDENTITY_SIGNING_KEY"), None);
    }

    #[test]
    fn the_gateway_knows_neither_database_nor_broker() {
        let wiring = wiring(&Replicas::new());
        let env = wiring
            .environment(wiring.instances.last().unwrap())
            .unwrap();
        assert!(
            env.iter()
                .all(|(name, _)| !name.contains("DATABASE") && !name.contains("NATS"))
        );
        assert_eq!(
            value(&env, "WALLET_GRPC_URL"),
            Some(wiring.grpc_url(Service::Wallet))
        );
    }

    #[test]
    fn replicas_have_names_and_ports_of_their_own() {
        let wiring = wiring(&Replicas::from([(Service::Wallet, 2)]));
        let names: Vec<_> = wiring
            .instances
            .iter()
            .map(|instance| instance.name.as_str())
            .collect();
        let expected = [
            "catalog-svc",
            "orders-svc",
            "wallet-svc",
            "wallet-svc-2",
            "identity-svc",
            "gateway",
        ];
        assert_eq!(names, expected);
        assert_ne!(wiring.instances[2].port, wiring.instances[3].port);
        assert!(value(&wiring.exports().unwrap(), "WALLET_2_METRICS_URL").is_some());
    }
}
