//! Sets of CPUs.

use std::fmt;

use super::topology::CpuId;

/// A set of CPUs, as a bit mask that grows as needed.
///
/// Iteration is in ascending order. Two masks with the same members are equal
/// whatever they once held.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuMask {
    /// Bit `i` of word `w` is CPU `64 w + i`; no trailing zero words.
    words: Vec<u64>,
}

impl CpuMask {
    /// The empty set.
    pub const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// The set of one CPU.
    pub fn of(cpu: CpuId) -> Self {
        let mut mask = Self::new();
        mask.insert(cpu);
        mask
    }

    /// CPUs `0..n`.
    pub fn first(n: usize) -> Self {
        (0..n).map(CpuId::from_index).collect()
    }

    /// Adds `cpu`.
    pub fn insert(&mut self, cpu: CpuId) {
        let (word, bit) = (cpu.index() / 64, cpu.index() % 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << bit;
    }

    /// Takes `cpu` out.
    pub fn remove(&mut self, cpu: CpuId) {
        if let Some(word) = self.words.get_mut(cpu.index() / 64) {
            *word &= !(1 << (cpu.index() % 64));
        }
        self.trim();
    }

    /// Whether `cpu` is a member.
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.words
            .get(cpu.index() / 64)
            .is_some_and(|word| word >> (cpu.index() % 64) & 1 == 1)
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Lowest member.
    pub fn lowest(&self) -> Option<CpuId> {
        self.iter().next()
    }

    /// Highest member.
    pub fn highest(&self) -> Option<CpuId> {
        let top = self.words.last()?;
        let bit = 63 - top.leading_zeros() as usize;
        Some(CpuId::from_index((self.words.len() - 1) * 64 + bit))
    }

    /// Members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| CpuId::from_index(index * 64 + rest.trailing_zeros() as usize))
        })
    }

    /// Members of both.
    pub fn and(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a & b);
        Self::from_words(words.collect())
    }

    /// Members of either.
    pub fn or(&self, other: &Self) -> Self {
        let longest = self.words.len().max(other.words.len());
        let word = |mask: &Self, i: usize| mask.words.get(i).copied().unwrap_or(0);
        Self::from_words(
            (0..longest)
                .map(|i| word(self, i) | word(other, i))
                .collect(),
        )
    }

    /// Members of this one that are not in `other`.
    pub fn minus(&self, other: &Self) -> Self {
        let word = |i: usize| other.words.get(i).copied().unwrap_or(0);
        let words = self.words.iter().enumerate();
        Self::from_words(words.map(|(i, a)| a & !word(i)).collect())
    }

    /// Whether every member is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.minus(other).is_empty()
    }

    /// Whether there is a common member.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    fn from_words(words: Vec<u64>) -> Self {
        let mut mask = Self { words };
        mask.trim();
        mask
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl FromIterator<CpuId> for CpuMask {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> Self {
        let mut mask = Self::new();
        for cpu in cpus {
            mask.insert(cpu);
        }
        mask
    }
}

/// The kernel's list form: `0-5,24-29`; the empty set prints as nothing.
impl fmt::Display for CpuMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_cpulist(self.iter().map(|cpu| cpu.index() as u32)))
    }
}

impl fmt::Debug for CpuMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

/// Ascending numbers in the kernel's list form: `0-5,24-29`.
pub fn format_cpulist(ids: impl Iterator<Item = u32>) -> String {
    let mut out = String::new();
    let mut run: Option<(u32, u32)> = None;
    let mut flush = |run: Option<(u32, u32)>| {
        let Some((first, last)) = run else { return };
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(&first.to_string());
        if last > first {
            out.push('-');
            out.push_str(&last.to_string());
        }
    };
    for id in ids {
        run = match run {
            Some((first, last)) if last + 1 == id => Some((first, id)),
            other => {
                flush(other);
                Some((id, id))
            }
        };
    }
    flush(run);
    out
}

/// Highest number a list may hold: far above any machine, low enough that a
/// slip such as `0-4294967295` cannot fill the memory.
const MAX_LISTED: u32 = 65_535;

/// Reads the kernel's list form, `0-5,24-29`; the empty text is the empty list.
/// The numbers come back as written: neither sorted nor free of repeats.
pub fn parse_cpulist(text: &str) -> Result<Vec<u32>, String> {
    let mut ids = Vec::new();
    for part in text.split(',').map(str::trim) {
        if part.is_empty() && text.trim().is_empty() {
            break;
        }
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| match digits.trim().parse::<u32>() {
            Ok(number) if number <= MAX_LISTED => Ok(number),
            _ => Err(format!(
                "`{part}` is not a number or range of numbers up to {MAX_LISTED}; \
                 write a list such as `0-5,24-29`"
            )),
        };
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!(
                "the range `{part}` runs backwards; write the lower number first"
            ));
        }
        ids.extend(first..=last);
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(ids: &[usize]) -> CpuMask {
        ids.iter().map(|&i| CpuId::from_index(i)).collect()
    }

    #[test]
    fn prints_the_kernels_list_form() {
        assert_eq!(mask(&[0, 1, 2, 24, 63, 64]).to_string(), "0-2,24,63-64");
        assert_eq!(CpuMask::new().to_string(), "");
    }

    #[test]
    fn reads_back_the_list_form_and_refuses_nonsense() {
        assert_eq!(parse_cpulist("0-2,24"), Ok(vec![0, 1, 2, 24]));
        assert_eq!(parse_cpulist(" \n"), Ok(vec![]));
        for bad in ["3-1", "0-", "a", "1,,2", "0-4294967295", "-1", ","] {
            assert!(parse_cpulist(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn iterates_over_word_borders_in_ascending_order() {
        let ids: Vec<_> = mask(&[130, 0, 63, 64]).iter().map(CpuId::index).collect();
        assert_eq!(ids, [0, 63, 64, 130]);
        assert_eq!(mask(&[130, 5]).highest(), Some(CpuId::from_index(130)));
    }

    #[test]
    fn masks_with_the_same_members_are_equal_after_removal() {
        let mut grown = mask(&[3, 200]);
        grown.remove(CpuId::from_index(200));
        assert_eq!(grown, mask(&[3]));
        assert_eq!(mask(&[1, 2, 70]).minus(&mask(&[70])), mask(&[1, 2]));
        assert!(mask(&[1]).is_subset(&mask(&[1, 99])));
        assert!(!mask(&[1, 99]).is_subset(&mask(&[1])));
    }
}
