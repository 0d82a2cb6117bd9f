//! What the columns of tables have, which says how they give way on a terminal that is narrower than the table.

/// A column of a table, apart from its heading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(super) content: Content,
    /// When it is left out, if it may be: the lowest first.
    pub(super) turn: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    Name,
    Count,
    Id,
    Moment,
    Text,
}

/// Words and short names, by which rows are told apart: whole until no column can be left out any more.
pub(crate) const NAME: Column = Column::of(Content::Name);
/// Numbers, also with units and such as `3 of 4`. They end below each other, and are never cut: some digits of a number are another
/// number.
pub(crate) const COUNT: Column = Column::of(Content::Count);
/// What is copied to another command, which takes all of it: cut last.
pub(crate) const ID: Column = Column::of(Content::Id);
/// Days with or without a time, which is cut when all texts are as short as they get.
pub(crate) const MOMENT: Column = Column::of(Content::Moment);
/// What somebody has written, of which the beginning says something: cut first.
pub(crate) const TEXT: Column = Column::of(Content::Text);

impl Column {
    const fn of(content: Content) -> Self {
        Self { content, turn: None }
    }

    /// The same, of a column that is missed less than others. Those of one table that have the lowest turn are left out first.
    pub(crate) const fn left_out(self, turn: usize) -> Self {
        Self { turn: Some(turn), ..self }
    }
}
