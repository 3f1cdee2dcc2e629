//! What lies between reading and writing: many lists of records in one temporary file.
//!
//! A list is a chain of blocks; each block begins with the number of the next one of its list, so
//! lists grow side by side in one file and what is kept in memory is a block a list, however long
//! they get. A record is its length (four bytes) and its bytes, found again by its address or in
//! the order of its list. The file has no name: nothing is left behind however the process ends.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use serde::Serialize;

use super::resolve::wide;

/// Bytes of a block.
const BLOCK: usize = 16 << 10;
/// Bytes of a block that name the next one.
const HEAD: usize = 4;
/// Blocks that were read last and are kept: 16 MiB.
const KEPT_BLOCKS: usize = 1_024;

/// Where a record lies.
pub(super) type Address = u64;

/// Lists being filled.
#[derive(Debug)]
pub(super) struct SpoolWriter {
    file: File,
    /// Blocks given to lists so far, written or not.
    blocks: u32,
    lists: Vec<Filling>,
}

/// The last block of a list.
#[derive(Debug, Default)]
struct Filling {
    first: Option<u32>,
    number: u32,
    block: Vec<u8>,
    records: u64,
}

/// A filled list.
#[derive(Clone, Copy, Debug)]
struct List {
    first: Option<u32>,
    records: u64,
}

impl SpoolWriter {
    /// So many empty lists.
    pub(super) fn new(lists: usize) -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            blocks: 0,
            lists: (0..lists).map(|_| Filling::default()).collect(),
        })
    }

    /// Appends a record to a list.
    pub(super) fn put(&mut self, list: usize, record: &[u8]) -> io::Result<Address> {
        let length = u32::try_from(record.len()).map_err(io::Error::other)?;
        let filling = self.lists.get_mut(list).ok_or_else(no_such_list)?;
        if filling.first.is_none() {
            filling.number = next_block(&mut self.blocks)?;
            filling.first = Some(filling.number);
            filling.block = block();
        } else if filling.block.len() == BLOCK {
            filling.turn(&mut self.file, &mut self.blocks)?;
        }
        let address = address_of(filling.number, filling.block.len());
        for part in [length.to_le_bytes().as_slice(), record] {
            let mut rest = part;
            while !rest.is_empty() {
                if filling.block.len() == BLOCK {
                    filling.turn(&mut self.file, &mut self.blocks)?;
                }
                let room = (BLOCK - filling.block.len()).min(rest.len());
                let (fits, more) = rest.split_at_checked(room).unwrap_or((rest, &[]));
                filling.block.extend_from_slice(fits);
                rest = more;
            }
        }
        filling.records += 1;
        Ok(address)
    }

    /// Appends a record as JSON.
    pub(super) fn put_json(&mut self, list: usize, record: &impl Serialize) -> io::Result<Address> {
        self.put(list, &serde_json::to_vec(record)?)
    }

    /// Ends the filling.
    pub(super) fn finish(mut self) -> io::Result<Spool> {
        let mut lists = Vec::with_capacity(self.lists.len());
        for filling in &mut self.lists {
            if filling.first.is_some() {
                write_block(&mut self.file, filling.number, &filling.block)?;
            }
            lists.push(List {
                first: filling.first,
                records: filling.records,
            });
        }
        Ok(Spool {
            file: self.file,
            lists,
            kept: HashMap::new(),
            kept_order: VecDeque::new(),
        })
    }
}

impl Filling {
    /// Writes the full block and begins the next one.
    fn turn(&mut self, file: &mut File, blocks: &mut u32) -> io::Result<()> {
        let next = next_block(blocks)?;
        self.block.splice(..HEAD, next.to_le_bytes());
        write_block(file, self.number, &self.block)?;
        self.number = next;
        self.block.truncate(HEAD);
        Ok(())
    }
}

fn block() -> Vec<u8> {
    let mut block = Vec::with_capacity(BLOCK);
    block.resize(HEAD, 0);
    block
}

fn next_block(blocks: &mut u32) -> io::Result<u32> {
    let number = *blocks;
    *blocks = number
        .checked_add(1)
        .ok_or_else(|| io::Error::other("the export is larger than 64 TiB"))?;
    Ok(number)
}

fn address_of(number: u32, at: usize) -> Address {
    u64::from(number) * size() + u64::try_from(at).unwrap_or(0)
}

fn size() -> u64 {
    u64::try_from(BLOCK).unwrap_or(u64::MAX)
}

fn write_block(file: &mut File, number: u32, block: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(address_of(number, 0)))?;
    file.write_all(block)
}

fn no_such_list() -> io::Error {
    io::Error::other("there is no such list")
}

fn cut_short() -> io::Error {
    io::Error::from(io::ErrorKind::UnexpectedEof)
}

/// Filled lists.
#[derive(Debug)]
pub(super) struct Spool {
    file: File,
    lists: Vec<List>,
    kept: HashMap<u32, Arc<[u8]>>,
    kept_order: VecDeque<u32>,
}

/// A place in a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    block: u32,
    at: usize,
    /// Records from here to the end of the list.
    left: u64,
}

impl Spool {
    /// How many records a list has.
    pub(super) fn records(&self, list: usize) -> u64 {
        self.lists.get(list).map_or(0, |list| list.records)
    }

    /// The beginning of a list.
    pub(super) fn begin(&self, list: usize) -> Cursor {
        let list = self.lists.get(list).copied();
        Cursor {
            block: list.and_then(|list| list.first).unwrap_or(0),
            at: HEAD,
            left: list.map_or(0, |list| list.records),
        }
    }

    /// The record at the cursor, which moves behind it; `None` at the end of the list.
    pub(super) fn next(&mut self, cursor: &mut Cursor) -> io::Result<Option<Vec<u8>>> {
        let Some(left) = cursor.left.checked_sub(1) else {
            return Ok(None);
        };
        cursor.left = left;
        let length = self.length(cursor)?;
        let mut record = Vec::with_capacity(length);
        self.walk(cursor, length, |piece| record.extend_from_slice(piece))?;
        Ok(Some(record))
    }

    /// Passes by the record at the cursor and returns its address; `None` at the end of the list.
    pub(super) fn skip(&mut self, cursor: &mut Cursor) -> io::Result<Option<Address>> {
        let Some(left) = cursor.left.checked_sub(1) else {
            return Ok(None);
        };
        cursor.left = left;
        let mut begin = (cursor.block, cursor.at);
        if cursor.at == BLOCK {
            begin = (self.after(cursor.block)?, HEAD);
        }
        let length = self.length(cursor)?;
        self.walk(cursor, length, |_| ())?;
        Ok(Some(address_of(begin.0, begin.1)))
    }

    /// The record at an address.
    pub(super) fn get(&mut self, address: Address) -> io::Result<Vec<u8>> {
        let number = address / size();
        let mut cursor = Cursor {
            block: u32::try_from(number).map_err(io::Error::other)?,
            at: usize::try_from(address % size()).map_err(io::Error::other)?,
            left: 1,
        };
        self.next(&mut cursor)?.ok_or_else(cut_short)
    }

    fn length(&mut self, cursor: &mut Cursor) -> io::Result<usize> {
        let mut length = 0;
        let mut shift = 0;
        self.walk(cursor, 4, |piece| {
            for byte in piece {
                length |= u32::from(*byte) << shift;
                shift += 8;
            }
        })?;
        Ok(wide(length))
    }

    /// Goes on by `count` bytes of the list.
    fn walk(
        &mut self,
        cursor: &mut Cursor,
        count: usize,
        mut read: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut left = count;
        while left > 0 {
            if cursor.at == BLOCK {
                cursor.block = self.after(cursor.block)?;
                cursor.at = HEAD;
            }
            let block = self.block(cursor.block)?;
            let end = BLOCK.min(cursor.at + left);
            read(block.get(cursor.at..end).ok_or_else(cut_short)?);
            left -= end - cursor.at;
            cursor.at = end;
        }
        Ok(())
    }

    /// The next block of the same list.
    fn after(&mut self, number: u32) -> io::Result<u32> {
        let block = self.block(number)?;
        let head = block.first_chunk().ok_or_else(cut_short)?;
        Ok(u32::from_le_bytes(*head))
    }

    fn block(&mut self, number: u32) -> io::Result<Arc<[u8]>> {
        if let Some(block) = self.kept.get(&number) {
            return Ok(Arc::clone(block));
        }
        self.file.seek(SeekFrom::Start(address_of(number, 0)))?;
        let mut block = Vec::with_capacity(BLOCK);
        (&self.file).take(size()).read_to_end(&mut block)?;
        let block: Arc<[u8]> = block.into();
        if self.kept_order.len() >= KEPT_BLOCKS
            && let Some(oldest) = self.kept_order.pop_front()
        {
            self.kept.remove(&oldest);
        }
        self.kept.insert(number, Arc::clone(&block));
        self.kept_order.push_back(number);
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_length(length: usize, seed: usize) -> Vec<u8> {
        (0..length)
            .map(|at| u8::try_from((at * 31 + seed) % 251).unwrap())
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn records_come_back_in_the_order_of_their_list_and_by_address(
            sizes in prop::collection::vec((0_usize..4, prop_oneof![
                0_usize..200, BLOCK - 12..BLOCK + 12, 1_usize..3 * BLOCK,
            ]), 0..40),
        ) {
            let mut writer = SpoolWriter::new(5).unwrap();
            let mut wanted = vec![Vec::new(); 5];
            for (seed, (list, length)) in sizes.into_iter().enumerate() {
                let record = of_length(length, seed);
                let address = writer.put(list, &record).unwrap();
                wanted[list].push((address, record));
            }
            let mut spool = writer.finish().unwrap();
            for (list, wanted) in wanted.iter().enumerate() {
                prop_assert_eq!(spool.records(list), u64::try_from(wanted.len()).unwrap());
                let (mut read, mut passed) = (spool.begin(list), spool.begin(list));
                for (address, record) in wanted {
                    let next = spool.next(&mut read).unwrap();
                    prop_assert_eq!(next.as_ref(), Some(record));
                    prop_assert_eq!(spool.skip(&mut passed).unwrap(), Some(*address));
                    prop_assert_eq!(&spool.get(*address).unwrap(), record);
                }
                prop_assert_eq!(spool.next(&mut read).unwrap(), None);
                prop_assert_eq!(spool.skip(&mut passed).unwrap(), None);
            }
        }
    }

    #[test]
    fn what_was_pushed_out_of_memory_is_read_again() {
        let mut writer = SpoolWriter::new(1).unwrap();
        let record = of_length(BLOCK, 7);
        let addresses: Vec<Address> = (0..KEPT_BLOCKS + 20)
            .map(|_| writer.put(0, &record).unwrap())
            .collect();
        let mut spool = writer.finish().unwrap();
        for address in addresses.iter().chain(addresses.iter().rev()) {
            assert_eq!(spool.get(*address).unwrap(), record);
        }
        assert!(spool.kept.len() <= KEPT_BLOCKS);
    }
}
