//! Policies as scenarios name them: a preset, or a preset with other fields.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::problem::{Problem, Problems, Report, from_ron, suggest};
use super::units::Time;
use crate::session::NamedPolicy;
use crate::sim::gate::{self, Bump, GatePolicy, PickRule};
use crate::sim::rules::{FEATURES, PARTS};

/// `"ni-rate"`, or `(base: "ni-rate", rate_shift: 23)`.
#[derive(Debug)]
pub(super) struct PolicyFile {
    base: String,
    fields: Fields,
}

/// Fields of a policy that differ from its base; none = as the base.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fields {
    /// Whether the cost can close the gate.
    pub cost_gate: Option<bool>,
    /// Which calls run.
    pub pick: Option<PickRule>,
    /// Whether success statistics are kept.
    pub stats: Option<bool>,
    /// Right shift of the window length, or `"off"`.
    pub rate_shift: Option<OrOff<u32>>,
    /// Whether the ratio is limited to 1024.
    pub clamp: Option<bool>,
    /// Whether a ratio of 1024 runs without dice or accumulator.
    pub no_dice_at_full: Option<bool>,
    /// Cost bump, or `"off"`.
    pub bump: Option<OrOff<BumpFile>>,
    /// Whether periodic visits count as failed calls.
    pub count_periodic: Option<bool>,
    /// Whether the accumulator restarts at every new ratio.
    pub reset_pos: Option<bool>,
    /// Calls at which a window ends.
    pub window: Option<u32>,
    /// Least weight.
    pub floor: Option<u32>,
    /// `newidle_call` of a new domain.
    pub start_call: Option<u32>,
    /// `newidle_success` of a new domain.
    pub start_success: Option<u32>,
    /// `newidle_ratio` of a new domain.
    pub start_ratio: Option<u32>,
}

/// A cost bump as files write it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BumpFile {
    num: u32,
    den: u32,
    cap: Time,
}

impl Default for BumpFile {
    fn default() -> Self {
        let Bump { num, den, cap_ns } = Bump::default();
        Self {
            num,
            den,
            cap: Time(cap_ns),
        }
    }
}

/// A value, or the string `"off"`.
#[derive(Clone, Debug)]
pub enum OrOff<T> {
    /// The value.
    On(T),
    /// Switched off.
    Off,
}

/// The preset of this name or alias.
///
/// # Errors
///
/// What is wrong with the name, and how to mend it.
pub fn named(name: &str) -> Result<NamedPolicy, (String, String)> {
    if let Some(preset) = gate::find(name) {
        return Ok(NamedPolicy {
            name: preset.name.into(),
            rules: preset.rules(),
        });
    }
    let names = || gate::names().collect::<Vec<_>>().join(", ");
    Err(match gate::why_not(name) {
        Some(why) => (
            format!("`{name}` is no newidle policy of this version: {why}"),
            elsewhere(name).unwrap_or_else(|| format!("allowed: {}", names())),
        ),
        None => (
            format!("there is no policy called `{name}`"),
            suggest(name, gate::names()),
        ),
    })
}

/// Where to ask for what is published beside policies but is another rule.
fn elsewhere(name: &str) -> Option<String> {
    for part in &PARTS {
        if let Some(index) = part.find(name) {
            let (key, name) = (part.name, part.names[index]);
            return Some(format!(
                "write {key}: \"{name}\" in a scenario, or --rule {key}={name}"
            ));
        }
    }
    let flag = name.to_uppercase().replace('-', "_");
    let bare = flag.strip_prefix("NO_").unwrap_or(&flag);
    let known = FEATURES.iter().any(|feature| feature.name == bare);
    known.then(|| format!("write features: [\"{flag}\"] in a scenario, or --feature {flag}"))
}

/// Reads a policy from one argument: a name, or a base with other fields as in
/// `(base: "ni-rate", rate_shift: 23)`. `source` names it in problems.
///
/// # Errors
///
/// Everything wrong with it.
pub fn parse(source: &str, text: &str) -> Result<NamedPolicy, Problems> {
    if !text.trim_start().starts_with('(') {
        let problem = |(what, remedy)| Problem {
            source: source.into(),
            at: None,
            what,
            remedy,
        };
        return named(text.trim()).map_err(|error| problem(error).into());
    }
    let file: PolicyFile = from_ron(source, text)?;
    let mut report = Report::new(source, text);
    match file.resolve("", &mut report) {
        Some(policy) => report.finish(policy),
        None => Err(report.finish(()).err().unwrap_or_default()),
    }
}

impl PolicyFile {
    /// The policy, or a report of what is wrong with it.
    pub(super) fn resolve(&self, path: &str, report: &mut Report) -> Option<NamedPolicy> {
        match named(&self.base) {
            Ok(base) => self.fields.change(&base, path, report),
            Err((what, remedy)) => {
                report.at(&format!("{path}.base"), what, remedy);
                None
            }
        }
    }
}

impl Fields {
    /// `base` with these fields; its name gets a star if that changes it.
    pub(super) fn change(
        &self,
        base: &NamedPolicy,
        path: &str,
        report: &mut Report,
    ) -> Option<NamedPolicy> {
        let rules = self.rules(&base.rules);
        let problems = rules.problems();
        for (field, what, allowed) in &problems {
            report.at(
                &format!("{path}.{field}"),
                format!("{field} is {what}"),
                format!("allowed: {allowed}"),
            );
        }
        let changed = rules != base.rules && !base.name.ends_with('*');
        let star = if changed { "*" } else { "" };
        problems.is_empty().then(|| NamedPolicy {
            name: format!("{}{star}", base.name),
            rules,
        })
    }

    fn rules(&self, base: &GatePolicy) -> GatePolicy {
        let bump = |file: &BumpFile| Bump {
            num: file.num,
            den: file.den,
            cap_ns: file.cap.0,
        };
        GatePolicy {
            cost_gate: self.cost_gate.unwrap_or(base.cost_gate),
            pick: self.pick.unwrap_or(base.pick),
            stats: self.stats.unwrap_or(base.stats),
            rate_shift: match &self.rate_shift {
                None => base.rate_shift,
                Some(OrOff::Off) => None,
                Some(OrOff::On(shift)) => Some(*shift),
            },
            clamp: self.clamp.unwrap_or(base.clamp),
            no_dice_at_full: self.no_dice_at_full.unwrap_or(base.no_dice_at_full),
            bump: match &self.bump {
                None => base.bump,
                Some(OrOff::Off) => None,
                Some(OrOff::On(file)) => Some(bump(file)),
            },
            count_periodic: self.count_periodic.unwrap_or(base.count_periodic),
            reset_pos: self.reset_pos.unwrap_or(base.reset_pos),
            window: self.window.unwrap_or(base.window),
            floor: self.floor.unwrap_or(base.floor),
            start_call: self.start_call.unwrap_or(base.start_call),
            start_success: self.start_success.unwrap_or(base.start_success),
            start_ratio: self.start_ratio.unwrap_or(base.start_ratio),
        }
    }
}

impl<'de> Deserialize<'de> for PolicyFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PolicyVisitor)
    }
}

struct PolicyVisitor;

impl<'de> Visitor<'de> for PolicyVisitor {
    type Value = PolicyFile;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a policy name, or (base: \"name\", field: value, ...)")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<PolicyFile, E> {
        Ok(PolicyFile {
            base: name.into(),
            fields: Fields::default(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PolicyFile, A::Error> {
        // `base` comes first; the rest are the fields.
        match map.next_key::<String>()?.as_deref() {
            Some("base") => {}
            Some(_) | None => {
                return Err(A::Error::custom(
                    "a policy does not begin with its base; write (base: \"ni-rate\", ...)",
                ));
            }
        }
        let base = map.next_value()?;
        let fields = Fields::deserialize(MapAccessDeserializer::new(map))?;
        Ok(PolicyFile { base, fields })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrOff<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrOffVisitor(std::marker::PhantomData))
    }
}

struct OrOffVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OrOffVisitor<T> {
    type Value = OrOff<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value, or \"off\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        match text {
            "off" => Ok(OrOff::Off),
            _ => Err(E::custom(format!(
                "`{text}` is no value; give one, or \"off\""
            ))),
        }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        let number = serde::de::value::U64Deserializer::new(number);
        T::deserialize(number).map(OrOff::On)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        let number = serde::de::value::I64Deserializer::new(number);
        T::deserialize(number).map(OrOff::On)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(OrOff::On)
    }
}
