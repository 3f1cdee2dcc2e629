//! Wiring: a configuration in, a running gateway out.
//!
//! Nothing is decided here but the order. Starting: the socket is taken first, because a taken port
//! is the commonest mistake and must not cost anything; then stores, lease, rules, edge. Stopping
//! goes the other way: requests end while they may still write, then the lease is given back, then
//! the stores write what they accepted.

mod error;
mod gate;
mod readiness;
mod settings;

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

pub use self::error::StartError;
pub use self::gate::GateError;

use self::readiness::PortsReadiness;
use crate::api::graphql;
use crate::api::http::auth::Authenticator;
use crate::api::http::{self, Edge, Router};
use crate::config::Config;
use crate::domain::clock::Clock;
use crate::domain::ids::generator::IdGenerator;
use crate::import::synthetic::{self, Seeded};
use crate::service::lease::LeaseKeeper;
use crate::service::{Ports, Service, ServiceResult};
use crate::store::open::{self, Stores};
use crate::tasks::Tasks;
use crate::telemetry::Metrics;
use crate::worker::eraser::Eraser;
use crate::worker::index_builder::IndexBuilder;
use crate::worker::walker::TableWalker;

/// How long giving back the lease, and writing what was accepted, may take each.
const CLOSING_TIME: Duration = Duration::from_secs(5);

/// What stops together; the fields stop in their order.
#[derive(Clone, Debug, Default)]
struct Phases {
    /// Requests, mutations, loops behind requests.
    work: Tasks,
    /// The lease, without which nothing may be written.
    lease: Tasks,
    /// The stores.
    stores: Tasks,
}

impl Phases {
    /// Whether everything ended by itself.
    async fn shutdown(&self, work_time: Duration) -> bool {
        let work = self.work.shutdown(work_time).await;
        let lease = self.lease.shutdown(CLOSING_TIME).await;
        let stores = self.stores.shutdown(CLOSING_TIME).await;
        work && lease && stores
    }
}

/// A gateway before it starts. Every step has a default: the machine's clock, metrics that nobody
/// collects, no made-up community.
#[derive(Debug)]
pub struct AppBuilder {
    config: Config,
    clock: Option<Clock>,
    metrics: Option<Metrics>,
    is_seeded: bool,
}

impl AppBuilder {
    /// A gateway with these settings.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            clock: None,
            metrics: None,
            is_seeded: false,
        }
    }

    /// Reads this clock instead of the machine's.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Shows these metrics at `/metrics`.
    #[must_use]
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Puts the made-up community into the stores, before the first request.
    #[must_use]
    pub fn seeded(mut self, is_seeded: bool) -> Self {
        self.is_seeded = is_seeded;
        self
    }

    /// Starts everything but the socket and the index builder's loop: for calls of
    /// [`App::router`] within the process, which index by [`App::index_builder`] when they want to.
    pub async fn build(self) -> Result<App, StartError> {
        let phases = Phases::default();
        match self.assemble(phases.clone()).await {
            Ok(app) => Ok(app),
            Err(error) => {
                phases.shutdown(CLOSING_TIME).await;
                Err(error)
            }
        }
    }

    /// Starts everything, and serves.
    pub async fn start(self) -> Result<App, StartError> {
        let listen = self.config.server.listen;
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|cause| StartError::Listen { listen, cause })?;
        let address = listener
            .local_addr()
            .map_err(|cause| StartError::Listen { listen, cause })?;
        let mut app = self.build().await?;
        app.serve(listener, address);
        Ok(app)
    }

    async fn assemble(self, phases: Phases) -> Result<App, StartError> {
        let config = self.config;
        let offset_ms = config.clock.offset_ms;
        let clock = self
            .clock
            .unwrap_or_else(|| Clock::system_with_offset(offset_ms));
        let metrics = match self.metrics {
            Some(metrics) => metrics,
            None => Metrics::detached()?,
        };
        metrics.start_upkeep(&phases.work);
        let cache_bytes = config.comments.page_cache_bytes;
        let stores = open::open(&config.stores, cache_bytes, &clock, &phases.stores).await?;
        let ids = Arc::new(IdGenerator::new(clock.clone()));
        let (workers, owner) = (Arc::clone(&stores.workers), owner());
        let keeper = LeaseKeeper::new(workers, Arc::clone(&ids), clock.clone(), &owner);
        let lease = keeper.clone().start(&phases.lease).await;
        lease.map_err(StartError::Lease)?;
        let ports = Ports {
            comments: Arc::clone(&stores.comments),
            users: Arc::clone(&stores.users),
            states: Arc::clone(&stores.states),
            flags: Arc::clone(&stores.flags),
            wake: Arc::clone(&stores.wake),
            ids,
            clock: clock.clone(),

            tasks: phases.work.clone(),
        };
        let service = Service::new(ports, settings::service(&config.comments))
            .with_gate(gate::gate(&config.moderation)?);
        let seeded = if self.is_seeded {
            Some(synthetic::seed(&service).await.map_err(StartError::Seed)?)
        } else {
            None
        };
        Ok(App {
            router: router(&config, &service, metrics, &phases.work)?,
            index_builder: IndexBuilder::new(service.clone(), &owner),
            address: None,
            config,
            service,
            owner: Arc::from(owner),
            stores,
            keeper,
            seeded,
            phases,
        })
    }
}

/// The edge over a service.
fn router(
    config: &Config,
    service: &Service,
    metrics: Metrics,
    tasks: &Tasks,
) -> Result<Router, StartError> {
    let settings = settings::http(config);
    let clock = &service.ports().clock;
    let authenticator = Authenticator::new(&settings.auth, config.server.listen, clock, tasks)?;
    Ok(http::router(Edge {
        executor: graphql::executor(service.clone()),
        clock: clock.clone(),
        authenticator: Arc::new(authenticator),
        readiness: Arc::new(PortsReadiness(service.clone())),
        metrics: Arc::new(move || metrics.render()),
        tasks: tasks.clone(),
        settings,
    })?)
}

/// A name for this process that no other has, also after a restart: host, process, random bits.
fn owner() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = match host.trim() {
        "" => "host",
        host => host,
    };
    // The standard library seeds its hash maps from the system's randomness.
    let random = RandomState::new().hash_one(0);
    format!("{host}/{}/{random:016x}", std::process::id())
}

/// A gateway that runs until [`App::shutdown`].
#[derive(Debug)]
pub struct App {
    router: Router,
    index_builder: IndexBuilder,
    address: Option<SocketAddr>,
    config: Config,
    service: Service,
    owner: Arc<str>,
    stores: Stores,
    keeper: LeaseKeeper,
    seeded: Option<Seeded>,
    phases: Phases,
}

impl App {
    /// Starts a gateway with these settings on the machine's clock, and serves.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        AppBuilder::new(config).start().await
    }

    fn serve(&mut self, listener: TcpListener, address: SocketAddr) {
        for warning in self.config.warnings() {
            tracing::warn!("{warning}");
        }
        let (router, tasks) = (self.router.clone(), self.phases.work.clone());
        self.phases.work.spawn(async move {
            if let Err(error) = http::serve(listener, router, &tasks).await {
                tracing::error!(%error, "serving ended");
            }
        });
        self.index_builder.clone().start(&self.phases.work);
        let scrub_interval = self.config.stores.scrub_interval.get();
        Eraser::new(self.service.clone(), scrub_interval).start(&self.phases.work);
        self.address = Some(address);
        tracing::info!(%address, "serving");
    }

    /// Where it listens, with the real port when the setting says 0; `None` without a socket.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// The routes, to be called within the process.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// The rules that it runs.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// The settings that hold.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What the made-up community added at the start, if it was asked for.
    pub fn seeded(&self) -> Option<Seeded> {
        self.seeded
    }

    /// What builds indexes behind requests.
    pub fn index_builder(&self) -> &IndexBuilder {
        &self.index_builder
    }

    /// What walks over the stores: for jobs beside requests.
    pub fn walker(&self) -> TableWalker {
        let ports = self.service.ports();
        TableWalker {
            walks: Arc::clone(&self.stores.walks),
            flags: Arc::clone(&ports.flags),
            clock: ports.clock.clone(),
            tasks: ports.tasks.clone(),
            owner: Arc::clone(&self.owner),
        }
    }

    /// Reading statements that the stores were sent so far.
    pub fn statements(&self) -> u64 {
        self.stores.statements()
    }

    /// Takes a lease anew: who moved a manual clock past the end of the last one needs it, since
    /// the keeper goes by the machine's.
    pub async fn take_lease(&self) -> ServiceResult<()> {
        self.keeper.acquire().await.map(drop)
    }

    /// Takes no new requests, lets those that run end within `server.shutdown_timeout`, and closes
    /// the stores. `false`: something did not end in time and was cut off.
    pub async fn shutdown(self) -> bool {
        let limit = self.config.server.shutdown_timeout.get();
        let ended = self.phases.shutdown(limit).await;
        if ended {
            tracing::info!("stopped");
        } else {
            tracing::warn!("stopped before everything under way had ended");
        }
        ended
    }
}

#[cfg(test)]
mod tests;
