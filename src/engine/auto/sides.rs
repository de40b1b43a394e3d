//! The engines of the two places, which are made when they are needed.

use super::{AutoEngine, Place};
use crate::engine::{Engine, Start};
use crate::error::Result;
use once_cell::sync::OnceCell;

/// An engine and where it is.
pub(super) struct Side {
    pub(super) place: Place,
    pub(super) engine: Box<dyn Engine>,
    /// Whether the engine has the current schedule.
    pub(super) is_current: bool,
}

impl AutoEngine {
    pub(super) fn side(&self, place: Place) -> Option<&Side> {
        self.holder.iter().chain(&self.other).find(|side| side.place == place)
    }

    pub(super) fn sides(&mut self) -> impl Iterator<Item = &mut Side> {
        self.holder.iter_mut().chain(&mut self.other)
    }

    /// The one whose results are those of the last run; none before the first run.
    pub(super) fn with_results(&self) -> Option<&Side> {
        match &self.other {
            Some(other) if self.results_on_other => Some(other),
            _ => self.holder.as_ref(),
        }
    }

    /// An engine with the evidence, but not the messages.
    pub(super) fn make(&self, place: Place) -> Result<Box<dyn Engine>> {
        let mut engine = self.machine.make(place, &self.graph, &self.schedule)?;
        for (variable, evidence) in self.evidence.iter() {
            engine.set_evidence(variable, Some(evidence))?;
        }
        Ok(engine)
    }

    /// The engine of the first run.
    pub(super) fn make_first(&self, place: Place) -> Result<Box<dyn Engine>> {
        let mut engine = self.make(place)?;
        if let Some(snapshot) = &self.given {
            engine.import(snapshot)?;
        }
        Ok(engine)
    }

    /// Makes the engine of a place, or gives it what it has missed but for the messages.
    pub(super) fn make_ready(&mut self, place: Place) -> Result<()> {
        match (&self.holder, &mut self.other) {
            (None, _) => {
                let known = if place == Place::Cpu { self.reader.take() } else { None };
                let engine = known.map_or_else(|| self.make_first(place), Ok)?;
                self.holder = Some(Side { place, engine, is_current: true });
                (self.given, self.reader) = (None, OnceCell::new());
            }
            (Some(holder), _) if holder.place == place => {}
            (Some(_), Some(other)) if !other.is_current => {
                other.engine.set_schedule(&self.schedule)?;
                other.is_current = true;
            }
            (Some(_), Some(_)) => {}
            (Some(_), None) => {
                let engine = self.make(place)?;
                self.other = Some(Side { place, engine, is_current: true });
            }
        }
        Ok(())
    }

    /// As [`Self::make_ready`], but a device that fails is given up.
    pub(super) fn make_ready_or_give_up(&mut self, place: Place) -> Result<Place> {
        if place == Place::Device {
            match self.make_ready(place) {
                Ok(()) => return Ok(place),
                Err(error) => self.give_up(&error),
            }
        }
        self.make_ready(Place::Cpu)?;
        Ok(Place::Cpu)
    }

    /// Prepares a place, and gives it the newest messages if the start needs them. Whether it is the other.
    pub(super) fn move_to(&mut self, place: Place, start: Start) -> Result<bool> {
        self.make_ready(place)?;
        match (&self.holder, &mut self.other) {
            (Some(holder), Some(other)) if holder.place != place => {
                if start == Start::Warm {
                    other.engine.import(&holder.engine.export()?)?;
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The other engine has the newest messages from now on.
    pub(super) fn swap(&mut self) {
        std::mem::swap(&mut self.holder, &mut self.other);
        self.results_on_other = !self.results_on_other;
    }
}
