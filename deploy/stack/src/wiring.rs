//! Addresses and settings of each process. Pure: starts nothing.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::{
    database::url_with,
    nats::users::{NatsAccess, OPERATOR},
    ports::Ports,
    roles::Roles,
    secrets::{KEY_ENCRYPTION_KEY, Secrets},
    service::{Auth, GATEWAY, Replicas, Service},
};

/// Name and value of an environment variable.
pub type Variable = (String, String);

/// One process to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// `wallet-svc`, `wallet-svc-2`.
    pub name: String,
    /// The service it is a replica of; none for the gateway.
    pub service: Option<Service>,
    /// The port of gRPC, or of REST.
    pub port: u16,
    /// The port of `/readyz` and `/metrics`.
    pub metrics_port: u16,
}

impl Instance {
    /// Returns the name of the executable.
    pub fn program(&self) -> &'static str {
        self.service.map_or(GATEWAY, Service::program)
    }

    /// Assigns ports to a process, this one if it is free.
    pub(crate) fn assign(
        ports: &mut Ports,
        name: String,
        service: Option<Service>,
        port: Option<u16>,
    ) -> Result<Self> {
        Ok(Self {
            service,
            port: ports.assign(&name, port)?,
            metrics_port: ports.assign(&metrics_purpose(&name), None)?,
            name,
        })
    }

    /// Draws another port, after another process may have taken it.
    pub(crate) fn reassign_port(&mut self, ports: &mut Ports) -> Result<()> {
        self.port = ports.reassign(&self.name)?;
        Ok(())
    }

    /// Draws another port for metrics and probes, after another process may have taken it.
    pub(crate) fn reassign_metrics_port(&mut self, ports: &mut Ports) -> Result<()> {
        self.metrics_port = ports.reassign(&metrics_purpose(&self.name))?;
        Ok(())
    }
}

fn metrics_purpose(name: &str) -> String {
    format!("{name} metrics")
}

/// Everything that the processes of one stack must agree on.
#[derive(Debug, Clone)]
pub struct Wiring {
    /// The processes, the gateway last.
    pub instances: Vec<Instance>,
    /// Who may call.
    pub auth: Auth,
    /// Where to send traces.
    pub otlp: Option<String>,
    /// Keys and passwords.
    pub secrets: Secrets,
    /// The message broker.
    pub(crate) nats: NatsAccess,
    /// The superuser's URL.
    pub postgres_url: String,
    /// The name of the database.
    pub database: String,
    /// The roles by which the services log in to Postgres.
    pub(crate) roles: Roles,
    /// The directory of mails, which are not sent.
    pub mails: PathBuf,
    /// Whether the services have certificates, so that clients must use TLS.
    pub(crate) tls: bool,
}

/// Assigns ports to the processes of a stack. With a REST port, the default gRPC ports are preferred.
pub(crate) fn instances(
    ports: &mut Ports,
    rest_port: Option<u16>,
    replicas: &Replicas,
) -> Result<Vec<Instance>> {
    let mut instances = Vec::new();
    for service in Service::ALL {
        for number in 1..=replicas.get(&service).copied().unwrap_or(1) {
            let name = match number {
                1 => service.program().to_owned(),
                _ => format!("{}-{number}", service.program()),
            };
            let default = rest_port.filter(|_| number == 1);
            let default = default.map(|_| service.default_port());
            instances.push(Instance::assign(ports, name, Some(service), default)?);
        }
    }
    instances.push(Instance::assign(
        ports,
        GATEWAY.to_owned(),
        None,
        rest_port,
    )?);
    Ok(instances)
}

impl Wiring {
    /// Returns the process called `name`.
    pub fn instance(&self, name: &str) -> Result<&Instance> {
        let instance = self.instances.iter().find(|instance| instance.name == name);
        instance.with_context(|| format!("there is no process {name}"))
    }

    /// Returns the REST address.
    pub fn rest_url(&self) -> String {
        self.url_of(None)
    }

    /// Returns the gRPC address of a service (of its first replica).
    pub fn grpc_url(&self, service: Service) -> String {
        let url = self.url_of(Some(service));
        if self.tls {
            url.replacen("http:", "https:", 1)
        } else {
            url
        }
    }

    fn url_of(&self, service: Option<Service>) -> String {
        let mut instances = self.instances.iter();
        let first = instances.find(|instance| instance.service == service);
        local_url(first.map_or(0, |instance| instance.port))
    }

    /// Returns the database URL of a service's app role.
    pub fn app_url(&self, service: Service) -> Result<String> {
        self.role_url(&service.app_role())
    }

    /// Returns the database URL of the role that migrates a service's schema.
    pub fn owner_url(&self, service: Service) -> Result<String> {
        self.role_url(&service.owner_role())
    }

    /// Returns the database URL of the superuser.
    pub fn admin_url(&self) -> Result<String> {
        url_with(&self.postgres_url, None, &self.database)
    }

    /// Returns the URL of NATS for the user that may do everything.
    pub fn operator_nats_url(&self) -> String {
        self.nats.url_of(OPERATOR)
    }

    /// Returns the URL of NATS for a service.
    pub fn nats_url(&self, service: Service) -> String {
        self.nats.url_of(service.program())
    }

    fn role_url(&self, role: &str) -> Result<String> {
        self.roles.url(&self.postgres_url, role, &self.database)
    }

    /// Returns the settings of one process.
    pub fn environment(&self, instance: &Instance) -> Result<Vec<Variable>> {
        let secrets = &self.secrets;
        let address = |port: u16| format!("127.0.0.1:{port}");
        let mut env = vec![variable("AUTH", self.auth.as_str())];
        if let Some(secret) = secrets.of_services.get(instance.program()) {
            env.push(variable("SERVICE_SECRET", secret));
        }
        env.extend(Service::ALL.map(|it| variable(it.variable("GRPC_URL"), self.grpc_url(it))));
        if let Some(otlp) = &self.otlp {
            env.push(variable("OTEL_EXPORTER_OTLP_ENDPOINT", otlp));
            env.push(variable("TRACE_SAMPLE_RATIO", "1"));
        }
        let Some(service) = instance.service else {
            let metrics = address(instance.metrics_port);
            env.push(variable("GATEWAY_LISTEN", address(instance.port)));
            env.push(variable("GATEWAY_METRICS_LISTEN", metrics));
            // Nobody else calls it, and programs that measure it call it often.
            env.push(variable("RATE_LIMIT", "0"));
            return Ok(env);
        };
        let (listen, metrics) = (address(instance.port), address(instance.metrics_port));
        env.push(variable("NATS_URL", self.nats_url(service)));
        env.push(variable("GRPC_REFLECTION", "true"));
        env.push(variable(service.variable("LISTEN"), listen));
        env.push(variable(service.variable("METRICS_LISTEN"), metrics));
        let database = self.app_url(service)?;
        env.push(variable(service.variable("DATABASE_URL"), database));
        if service == Service::Identity {
            env.extend(secrets.service_secret_variables());
            env.push(variable(KEY_ENCRYPTION_KEY, &secrets.key_encryption_key));
            env.push(variable("BOOTSTRAP_API_KEY", &secrets.api_key));
            env.push(variable("MAIL_DIR", self.mails.to_string_lossy()));
            env.push(variable("APP_URL", self.rest_url()));
        }
        if matches!(service, Service::Catalog | Service::Identity) {
            let media = format!("{}/media/", self.rest_url());
            env.push(variable("MEDIA_BASE_URL", media));
        }
        Ok(env)
    }

    /// Returns the settings of `<service> migrate`, which alone gets the owner role.
    pub(crate) fn migration_environment(&self, service: Service) -> Result<Vec<Variable>> {
        let mut env = self.environment(self.instance(service.program())?)?;
        let url = self.owner_url(service)?;
        env.push(variable(service.variable("OWNER_DATABASE_URL"), url));
        Ok(env)
    }

    /// Returns the variables for a person's shell.
    pub(crate) fn exports(&self) -> Result<Vec<Variable>> {
        let mut exports = vec![
            variable("GUERDON_URL", self.rest_url()),
            variable("GUERDON_API_KEY", &self.secrets.api_key),
            variable("GUERDON_MAIL_DIR", self.mails.to_string_lossy()),
        ];
        for service in Service::ALL {
            let (grpc, database) = (self.grpc_url(service), self.app_url(service)?);
            exports.push(variable(service.variable("GRPC_URL"), grpc));
            exports.push(variable(service.variable("DATABASE_URL"), database));
        }
        for instance in self.instances.iter().filter(|it| it.service.is_some()) {
            let name = instance.name.replace("-svc", "").replace('-', "_");
            let name = format!("{}_METRICS_URL", name.to_uppercase());
            exports.push(variable(name, local_url(instance.metrics_port)));
        }
        // Not as DATABASE_URL: any tool that is started in this shell would use it as superuser.
        exports.push(variable("GUERDON_ADMIN_DATABASE_URL", self.admin_url()?));
        exports.push(variable("NATS_URL", self.operator_nats_url()));
        Ok(exports)
    }
}

/// Returns an environment variable.
pub(crate) fn variable(name: impl Into<String>, value: impl Into<String>) -> Variable {
    (name.into(), value.into())
}

fn local_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nats::users::Passwords;

    fn wiring(replicas: &Replicas) -> Wiring {
        Wiring {
            instances: instances(&mut Ports::default(), None, replicas).unwrap(),
            auth: Auth::Required,
            otlp: None,
            secrets: Secrets::generate(),
            nats: NatsAccess::Own {
                addresses: vec!["127.0.0.1:1".to_owned()],
                passwords: Passwords::complete(str::to_owned),
            },
            postgres_url: "postgres://postgres@127.0.0.1:2/postgres".to_owned(),
            database: "guerdon".to_owned(),
            roles: Roles::new("secret"),
            mails: PathBuf::from("/stack/mail"),
            tls: false,
        }
    }

    fn value(env: &[Variable], name: &str) -> Option<String> {
        env.iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    }

    #[test]
    fn a_service_gets_the_database_url_of_its_own_schema_only() {
        let wiring = wiring(&Replicas::new());
        let orders = &wiring.instances[1];
        let env = wiring.environment(orders).unwrap();
        let url = value(&env, "ORDERS_DATABASE_URL").unwrap();
        assert!(
            url.starts_with("postgres://guerdon_orders_app:")
                && url.ends_with("@127.0.0.1:2/guerdon"),
            "{url}"
        );
        assert_eq!(value(&env, "WALLET_DATABASE_URL"), None);
        assert_eq!(value(&env, "ORDERS_OWNER_DATABASE_URL"), None);
        assert_eq!(value(&env, KEY_ENCRYPTION_KEY), None);
        assert_eq!(value(&env, "MAIL_DIR"), None);
        let nats = "nats://orders-svc:ORDERS_NATS_PASSWORD@127.0.0.1:1";
        assert_eq!(value(&env, "NATS_URL").as_deref(), Some(nats));
    }

    #[test]
    fn services_with_certificates_are_called_with_tls() {
        let mut wiring = wiring(&Replicas::new());
        wiring.tls = true;
        let env = wiring.environment(&wiring.instances[1]).unwrap();
        let url = value(&env, "WALLET_GRPC_URL").unwrap();
        assert!(url.starts_with("https://127.0.0.1:"), "{url}");
        assert!(wiring.rest_url().starts_with("http://"), "the gateway");
    }

    #[test]
    fn each_process_gets_its_own_secret_and_identity_the_secrets_of_all() {
        let wiring = wiring(&Replicas::new());
        let mut own = Vec::new();
        for instance in &wiring.instances {
            let env = wiring.environment(instance).unwrap();
            let known = env
                .iter()
                .filter(|(name, _)| name.ends_with("_SERVICE_SECRET"));
            let known = known.map(|(_, value)| value.clone()).collect::<Vec<_>>();
            if instance.service == Some(Service::Identity) {
                assert_eq!(value(&env, "SERVICE_SECRET"), None);
                assert_eq!(known.len(), 4);
                own.extend(known);
            } else {
                own.extend(value(&env, "SERVICE_SECRET"));
                assert!(known.is_empty(), "{}", instance.name);
            }
        }
        own.sort();
        own.dedup();
        assert_eq!(own.len(), 4, "the same four on both sides");
    }

    #[test]
    fn the_gateway_gets_neither_database_nor_broker() {
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
    fn replicas_have_their_own_names_and_ports() {
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

    #[test]
    fn the_superusers_url_has_a_name_that_no_other_tool_reads() {
        let exports = wiring(&Replicas::new()).exports().unwrap();
        assert_eq!(value(&exports, "DATABASE_URL"), None);
        assert!(value(&exports, "GUERDON_ADMIN_DATABASE_URL").is_some());
    }
}
