//! Where iterations run, and with what.

/// Where iterations run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Each run where it is expected to end first, by a model of the costs that earlier runs correct;
    /// what a place needs is made when the first run there is, or is prepared. On the CPU where there is
    /// no device; also where one fails, which [`crate::BeliefPropagation::take_notes`] then says.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A CUDA device. The first session on one retains its primary context, which other users of CUDA in
    /// the process share; it stays, with the kernels in it, to the end of the process, unless it fails.
    Cuda,
}

impl Backend {
    /// `auto`, `cpu` or `cuda`.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Auto => "auto",
            Backend::Cpu => "cpu",
            Backend::Cuda => "cuda",
        }
    }
}

/// What to run iterations with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Where iterations run.
    pub backend: Backend,
    /// Number of CPU threads, at least 1; `None` for one per physical core.
    pub threads: Option<usize>,
    /// Number of the CUDA device; `None` for that of the environment variable `FASTLBP_DEVICE`, and 0
    /// where it is not set (see [`crate::engine::device::choose_device`]).
    pub device: Option<u32>,
    /// Whether tables with local structure run as what they are (see [`crate::structure`]) instead
    /// of entry by entry; results differ by rounding only. True unless changed.
    pub compile_tables: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { backend: Backend::Auto, threads: None, device: None, compile_tables: true }
    }
}
