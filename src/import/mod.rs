//! Text of other tools' files into topologies.
