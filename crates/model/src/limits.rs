//! Every numeric limit of the API, in one place.

/// Pushes in one request.
pub const PUSHES_PER_REQUEST: usize = 100;
/// Selectors in one audience, nested ones included.
pub const SELECTORS_PER_AUDIENCE: usize = 1000;
/// Nesting of AND, OR and NOT.
pub const SELECTOR_DEPTH: usize = 50;
/// Values in the array of one selector.
pub const VALUES_PER_SELECTOR: usize = 100;

pub const TAG_CHARS: usize = 128;
pub const TAG_GROUP_CHARS: usize = 128;
/// Tags in one group of one operation.
pub const TAGS_PER_OPERATION: usize = 100;
pub const TAGS_PER_CHANNEL: usize = 1000;
pub const NAMED_USER_ID_CHARS: usize = 128;

pub const UNINSTALLS_PER_REQUEST: usize = 1000;
pub const CHANNELS_PER_PAGE: usize = 1000;
/// A push address may be a web push endpoint, which is a URL.
pub const PUSH_ADDRESS_CHARS: usize = 4096;
pub const OPEN_ADDRESS_CHARS: usize = 128;
pub const OPEN_PLATFORM_CHARS: usize = 128;
pub const OPEN_IDENTIFIERS: usize = 100;

pub const CAMPAIGN_CATEGORIES: usize = 10;
pub const CAMPAIGN_CATEGORY_CHARS: usize = 64;
pub const SHARE_CHARS: usize = 1024;
pub const DEEP_LINK_CHARS: usize = 1024;
pub const LANDING_PAGE_CHARS: usize = 8192;
pub const STYLE_LINES: usize = 100;
pub const IOS_COLLAPSE_ID_BYTES: usize = 64;
/// Title and body of a Message Center message together.
pub const MESSAGE_BYTES: usize = 256 * 1024;
