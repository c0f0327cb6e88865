//! How far pictures are ahead of the confirmed game. That changes slowly, so that the shown game does not jump, unless an own order would have to wait.

/// One frame, in the unit of drawing between two frames.
pub(super) const FRAME: u32 = 1 << 16;

/// The time by which pictures are ahead. It approaches the wanted number of frames while the match goes on: the shown game runs at most twice as fast as the
/// match, and at least half as fast.
#[derive(Clone, Debug, Default)]
pub(super) struct Lead {
    /// In 65,536ths of a frame.
    ahead: u64,
    /// Some picture was drawn.
    has_begun: bool,
    /// Number of frames that had passed in the match in the last picture, ...
    here: u32,
    /// ... and how much of the time to the next one: 0..=65,536.
    alpha: u32,
}

impl Lead {
    /// The next picture is drawn at this moment of the match, and should be so many frames ahead.
    pub(super) fn pass(&mut self, here: u32, alpha: u32, wanted: u32) {
        let alpha = alpha.min(FRAME);
        let moment = |here: u32, alpha: u32| u64::from(here) * u64::from(FRAME) + u64::from(alpha);
        // The time before the first picture does not count: a switch in the middle of a match would jump.
        let before = if self.has_begun { moment(self.here, self.alpha) } else { moment(here, alpha) };
        let passed = moment(here, alpha).saturating_sub(before);
        self.has_begun = true;
        (self.here, self.alpha) = (here, alpha);
        let wanted = u64::from(wanted) * u64::from(FRAME);
        self.ahead = if self.ahead < wanted {
            (self.ahead + passed).min(wanted)
        } else {
            self.ahead.saturating_sub(passed / 2).max(wanted)
        };
    }

    /// The lead grows at once until the drawn game comes to this position with the present frame of the match. Returns whether it was less.
    pub(super) fn leap(&mut self, position: u32) -> bool {
        let wanted = u64::from(position.saturating_sub(self.here)) * u64::from(FRAME);
        let is_short = self.ahead < wanted;
        self.ahead = self.ahead.max(wanted);
        is_short
    }

    /// Pictures show the match itself.
    pub(super) fn lose(&mut self) {
        self.ahead = 0;
    }

    /// Number of frames that had passed in the match in the last picture.
    pub(super) fn here(&self) -> u32 {
        self.here
    }

    /// In 65,536ths of a frame.
    pub(super) fn ahead(&self) -> u64 {
        self.ahead
    }

    /// Number of frames that must have passed in the game that is drawn.
    pub(super) fn position(&self) -> u32 {
        let (whole, part) = (self.ahead / u64::from(FRAME), self.ahead % u64::from(FRAME));
        let begins_next = part + u64::from(self.alpha) > u64::from(FRAME);
        self.here.saturating_add(whole as u32).saturating_add(begins_next.into())
    }

    /// How much of the time to its next frame has passed in a game that has come to this position, 0..=65,536.
    pub(super) fn alpha(&self, position: u32) -> u32 {
        let behind = (i64::from(self.here) - i64::from(position)) * i64::from(FRAME);
        (behind + self.ahead as i64 + i64::from(self.alpha)).clamp(0, FRAME.into()) as u32
    }

    /// The drawn game has come no further than this: the rest of the lead is lost.
    pub(super) fn hold(&mut self, position: u32) {
        if position < self.position() {
            let whole = u64::from(position.saturating_sub(self.here));
            self.ahead = (whole + 1) * u64::from(FRAME) - u64::from(self.alpha);
        }
    }
}
