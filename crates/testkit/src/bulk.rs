//! Many channels at once, by copying one that was registered properly: for tests of fan-out.

use ::store::channels::{self, Channel, Key};
use ::store::log::{self, NewRecord};
use ::store::{Error, Store, apps};
use model::event::RecordKind;
use model::ids::{AppId, ChannelId, Ordinal};
use model::term::{TermChange, TermsRecord};

const PER_TRANSACTION: usize = 10_000;

/// Adds `n` channels like an existing one, each with an address of its own. Returns their addresses.
pub async fn copy_channel(store: &Store, app: AppId, original: ChannelId, n: usize) -> Vec<String> {
    let found = store.read(move |tx| channels::by_id(tx, app, original)).await.expect("the original can be read");
    let address = found.and_then(|channel| channel.address).expect("the original has an address");
    let addresses: Vec<String> = (0..n).map(|i| format!("{address}-{i}")).collect();
    copy_channel_to(store, app, original, &addresses).await;
    addresses
}

/// Adds channels like an existing one, with these addresses. The copies have the same profile and terms, and the log records
/// them as if they had registered.
pub async fn copy_channel_to(store: &Store, app: AppId, original: ChannelId, addresses: &[String]) {
    let found = store.read(move |tx| {
        let channel = channels::by_id(tx, app, original)?.expect("the original is registered");
        let keys = channels::keys_of(tx, app, channel.ordinal)?;
        Ok::<_, Error>((channel, keys))
    });
    let (original, keys) = found.await.expect("the original can be read");
    let kind = keys.into_iter().map(|key| key.kind).find(|kind| kind.starts_with("address:"));
    let kind = kind.expect("the address is a key");
    for some in addresses.chunks(PER_TRANSACTION) {
        let (some, original, kind) = (some.to_vec(), original.clone(), kind.clone());
        let write = store.write(app, move |tx| {
            let n_copies = u32::try_from(some.len()).expect("transactions are small");
            let first = apps::take_ordinals(tx, app, n_copies)?.0;
            let copies: Vec<_> =
                (first..).zip(&some).map(|(ordinal, address)| copy(&original, &kind, ordinal, address)).collect();
            channels::insert_many(tx, app, &copies)?;
            log::append(tx, app, original.created, vec![record(&copies)])
        });
        write.await.expect("copies can be written");
    }
}

fn record(copies: &[(Channel, Vec<Key>)]) -> NewRecord {
    let change = |(copy, _): &(Channel, Vec<Key>)| TermChange {
        ordinal: copy.ordinal,
        added: copy.terms.clone(),
        removed: Vec::new(),
    };
    let terms = TermsRecord { changes: copies.iter().map(change).collect(), ..TermsRecord::default() };
    let body = postcard::to_stdvec(&terms).expect("a record can be written down");
    NewRecord { kind: RecordKind::Terms, ordinal: None, body }
}

fn copy(original: &Channel, kind: &str, ordinal: u32, address: &str) -> (Channel, Vec<Key>) {
    // Apple's tokens are found in either letter case.
    let value = if kind == "address:ios" { address.to_ascii_uppercase() } else { address.to_owned() };
    let key = Key { kind: kind.to_owned(), value };
    let (ordinal, id, address) = (Ordinal(ordinal), ChannelId::random(), Some(address.to_owned()));
    (Channel { ordinal, id, address, ..original.clone() }, vec![key])
}
