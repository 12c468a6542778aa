//! The files, and reading one of them.

use std::collections::BTreeMap;

use super::Cpus;
use crate::sim::cpumask::parse_cpulist;

/// Highest CPU or node number taken seriously; above it a file is broken.
const MAX_ID: u32 = 65_535;

/// Files below `/sys/devices/system`, such as `cpu/cpu0/topology/core_id`, and
/// `proc/cpuinfo` if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SysTree(pub BTreeMap<String, Vec<u8>>);

impl SysTree {
    /// Text of a file without the blanks and NUL bytes around it; none if the
    /// file is missing, empty or not text.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        let text = std::str::from_utf8(self.0.get(path)?).ok()?;
        let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
        (!text.is_empty()).then_some(text)
    }

    pub(super) fn number(&self, path: &str) -> Option<i64> {
        self.text(path)?.parse().ok()
    }

    /// A file that holds a list. There but empty is an empty list; broken is
    /// none, and told.
    pub(super) fn list(&self, path: &str, notes: &mut Vec<String>) -> Option<Cpus> {
        if !self.0.contains_key(path) {
            return None;
        }
        match parse_cpulist(self.text(path).unwrap_or_default()) {
            Ok(ids) => Some(ids.into_iter().collect()),
            Err(_) => {
                notes.push(format!("`{path}` is no list of numbers; it was left out"));
                None
            }
        }
    }

    /// The set of CPUs in the first of `names` that is there, as list or as
    /// mask. An empty set counts as missing.
    pub(super) fn cpus(&self, folder: &str, names: &[&str]) -> Option<Cpus> {
        names.iter().find_map(|name| {
            let list = self.text(&format!("{folder}/{name}_list"));
            let list = list.and_then(|text| parse_cpulist(text).ok());
            let mask = || parse_mask(self.text(&format!("{folder}/{name}"))?);
            let cpus: Cpus = list.or_else(mask)?.into_iter().collect();
            (!cpus.is_empty()).then_some(cpus)
        })
    }

    /// Numbers of the folders `prefixN`.
    pub(super) fn numbered(&self, prefix: &str, notes: &mut Vec<String>) -> Cpus {
        let mut found = Cpus::new();
        let mut broken = false;
        for path in self.0.range(prefix.to_string()..) {
            let Some(rest) = path.0.strip_prefix(prefix) else {
                break;
            };
            let Some((digits, _)) = rest.split_once('/') else {
                continue;
            };
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            match digits.parse() {
                Ok(id) if id <= MAX_ID => {
                    found.insert(id);
                }
                _ => broken = true,
            }
        }
        if broken {
            notes.push(format!(
                "folders `{prefix}N` with a number above {MAX_ID} were left out"
            ));
        }
        found
    }

    /// Model name of the first CPU.
    pub(super) fn model(&self) -> Option<String> {
        let name = self.cpuinfo("model name")?;
        let words: Vec<_> = name.split_whitespace().collect();
        Some(words.join(" "))
    }

    /// AMD or Hygon from family 17h on, where the kernel raises
    /// `node_reclaim_distance`.
    pub(super) fn is_zen(&self) -> bool {
        let vendor = self.cpuinfo("vendor_id");
        let family = self
            .cpuinfo("cpu family")
            .and_then(|text| text.parse().ok());
        matches!(vendor, Some("AuthenticAMD" | "HygonGenuine")) && family >= Some(0x17_u32)
    }

    fn cpuinfo(&self, key: &str) -> Option<&str> {
        let value = |line: &str| -> Option<(usize, usize)> {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then_some((line.len() - value.len(), line.len()))
        };
        let mut lines = self.text("proc/cpuinfo")?.lines();
        lines.find_map(|line| value(line).map(|(from, to)| line[from..to].trim()))
    }
}

/// Reads a mask such as `ffff,ffffffff`: words of 32 bits, highest first.
pub(super) fn parse_mask(text: &str) -> Option<Vec<u32>> {
    const WORD: u32 = 32;
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    if words.len() as u32 > MAX_ID / WORD {
        return None;
    }
    let mut cpus = Vec::new();
    for (word, digits) in (0_u32..).zip(words.iter().rev()) {
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        let bits = u32::from_str_radix(digits, 16).ok()?;
        let set = (0..WORD).filter(|bit| bits >> bit & 1 == 1);
        cpus.extend(set.map(|bit| word * WORD + bit));
    }
    Some(cpus)
}
