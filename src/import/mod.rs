//! Text of other tools' files into topologies.

pub mod oracle_domains;
pub mod sysfs;

pub mod oracle_gates;

pub mod oracle_pick;
