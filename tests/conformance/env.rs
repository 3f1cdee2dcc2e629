//! What a case gets: a fresh store of one engine, a clock it may set, ids to mint, and more instances
//! over the same data. And the loop that turns port × engine × case into trials.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Completion, Failed, Trial};
use threadline::domain::clock::Clock;
use threadline::domain::ids::generator::{IdGenerator, Lease};
use threadline::store::StoreError;
use threadline::tasks::Tasks;

use crate::engines::{Engine, Place, Port};

/// When every trial begins.
pub(crate) const START_MS: i64 = 1_790_000_000_000;
/// A trial that takes longer hangs.
const HANG: Duration = Duration::from_mins(5);
/// Ids are minted under a lease that outlives every clock a case sets.
const LEASE: Duration = Duration::from_hours(10_000 * 24);

pub(crate) type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type Open<S> = for<'a> fn(&'a dyn Place, Clock, &'a Tasks) -> Work<'a, Result<Arc<S>, StoreError>>;

/// What a case gets.
pub(crate) struct Env<S: ?Sized> {
    /// The store under test.
    pub(crate) store: Arc<S>,
    /// The clock of the store and of [`Self::ids`].
    pub(crate) clock: Clock,
    /// Mints as worker 1.
    pub(crate) ids: Arc<IdGenerator>,
    tasks: Tasks,
    place: Arc<dyn Place>,
    open: Open<S>,
}

impl<S: ?Sized> Clone for Env<S> {
    fn clone(&self) -> Self {
        Self {
            store: Arc::clone(&self.store),
            clock: self.clock.clone(),
            ids: Arc::clone(&self.ids),
            tasks: self.tasks.clone(),
            place: Arc::clone(&self.place),
            open: self.open,
        }
    }
}

impl<S: ?Sized + Send + Sync + 'static> Env<S> {
    async fn fresh(
        engine: &dyn Engine,
        url: Option<String>,
        open: Open<S>,
    ) -> Result<Self, StoreError> {
        let clock = Clock::manual(START_MS);
        let tasks = Tasks::new();
        let place = engine.place(url).await?;
        let store = open(place.as_ref(), clock.clone(), &tasks).await?;
        let ids = Arc::new(generator(&clock, 1));
        Ok(Self {
            store,
            clock,
            ids,
            tasks,
            place,
            open,
        })
    }

    /// A second instance of the service over the same data, minting as another worker.
    pub(crate) async fn another_instance(&self, worker: u16) -> Self {
        let store = (self.open)(self.place.as_ref(), self.clock.clone(), &self.tasks)
            .await
            .expect("a second instance opens");
        Self {
            store,
            ids: Arc::new(generator(&self.clock, worker)),
            ..self.clone()
        }
    }

    /// Whether a text lies anywhere in the files of the store, of whatever kind.
    pub(crate) fn finds(&self, text: &str) -> bool {
        self.place.finds(text)
    }

    pub(crate) fn mint(&self) -> i64 {
        self.ids.mint().unwrap()
    }

    pub(crate) fn advance_ms(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }

    /// Runs `count` of the same at once, on all threads, and gives their results in order.
    pub(crate) async fn parallel<T, F, R>(&self, count: usize, start: F) -> Vec<T>
    where
        T: Send + 'static,
        F: Fn(usize) -> R,
        R: Future<Output = T> + Send + 'static,
    {
        let started: Vec<_> = (0..count)
            .map(|index| self.tasks.spawn(start(index)))
            .collect();
        let mut results = Vec::with_capacity(count);
        for task in started {
            results.push(task.await.expect("a parallel call panicked"));
        }
        results
    }
}

fn generator(clock: &Clock, worker: u16) -> IdGenerator {
    let ids = IdGenerator::new(clock.clone());
    ids.set_lease(Some(Lease {
        worker,
        deadline: LEASE,
        after_ms: 0,
    }));
    ids
}

/// One case of a port.
pub(crate) struct Case<S: ?Sized> {
    pub(crate) name: &'static str,
    pub(crate) run: fn(Env<S>) -> Work<'static, ()>,
}

/// Lists cases by their functions; a case that is not listed is dead code, which fails the build.
macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        &[$($crate::env::Case {
            name: stringify!($case),
            run: |env| Box::pin($case(env)),
        }),+]
    };
}
pub(crate) use cases;

/// The trials of one port on one engine; none when the engine does not implement the port.
pub(crate) fn trials<S: ?Sized + Send + Sync + 'static>(
    engine: &'static dyn Engine,
    port: Port,
    open: Open<S>,
    cases: impl IntoIterator<Item = &'static Case<S>>,
) -> Vec<Trial> {
    if !engine.ports().contains(&port) {
        return Vec::new();
    }
    cases
        .into_iter()
        .map(|case| {
            let name = format!("{}::{}::{}", port.name(), engine.name(), case.name);
            Trial::ignorable_test(name, move || run(engine, open, case))
        })
        .collect()
}

fn run<S: ?Sized + Send + Sync + 'static>(
    engine: &dyn Engine,
    open: Open<S>,
    case: &Case<S>,
) -> Result<Completion, Failed> {
    let url = match engine.url_variable() {
        None => None,
        Some(variable) => match set(variable) {
            Some(url) => Some(url),
            None if set("THREADLINE_TEST_REQUIRE").as_deref() == Some("all") => {
                return Err(format!("{variable} is not set").into());
            }
            None => return Ok(Completion::ignored_with(format!("{variable} is not set"))),
        },
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let env = Env::fresh(engine, url, open).await?;
        let tasks = env.tasks.clone();
        tokio::time::timeout(HANG, (case.run)(env))
            .await
            .map_err(|_elapsed| Failed::from("the case hangs"))?;
        tasks.shutdown(HANG).await;
        Ok(Completion::Completed)
    })
}

fn set(variable: &str) -> Option<String> {
    std::env::var_os(variable)
        .and_then(|value| value.into_string().ok())
        .filter(|value| !value.is_empty())
}
