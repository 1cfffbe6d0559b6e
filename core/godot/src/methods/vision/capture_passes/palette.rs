//! The colours that segments are painted in, and which pixels of a picture are whose.
//!
//! Six levels a channel, black left out: far enough apart that a pixel belongs to one colour or, on a blurred edge, to
//! none.

/// Most segments of one picture.
pub(super) const CAPACITY: usize = LEVELS * LEVELS * LEVELS - 1;
const LEVELS: usize = 6;
/// Between two levels of a channel.
const STEP: usize = 51;
/// How far from its level a channel may be; less than half a step.
const TOLERANCE: usize = 12;
/// Neighbours in number are far apart in colour: it shares no factor with the number of colours.
const STRIDE: usize = 98;

/// The colour of a segment.
pub(super) fn color(id: usize) -> [u8; 3] {
    let place = id * STRIDE % CAPACITY + 1;
    let level = |part: usize| u8::try_from(place / part % LEVELS * STEP).unwrap_or(u8::MAX);
    [level(LEVELS * LEVELS), level(LEVELS), level(1)]
}

/// What is seen of one segment.
#[derive(Clone, Default)]
pub(super) struct Segment {
    pub(super) pixels: u64,
    sums: [u64; 3],
    /// First and last column and row: left, top, right, bottom.
    pub(super) bounds: [usize; 4],
}

impl Segment {
    fn add(&mut self, pixel: &[u8], x: usize, y: usize) {
        let [left, top, right, bottom] = if self.pixels == 0 { [x, y, x, y] } else { self.bounds };
        self.bounds = [left.min(x), top.min(y), right.max(x), bottom.max(y)];
        self.pixels += 1;
        for (sum, channel) in self.sums.iter_mut().zip(pixel) {
            *sum += u64::from(*channel);
        }
    }

    /// The mean of its pixels, which is its colour as the engine drew it.
    pub(super) fn observed(&self) -> [u8; 3] {
        let pixels = self.pixels.max(1);
        self.sums.map(|sum| u8::try_from((sum + pixels / 2) / pixels).unwrap_or(u8::MAX))
    }
}

/// What is seen in a picture.
pub(super) struct Seen {
    /// By the segment's number.
    pub(super) segments: Vec<Segment>,
    /// Pixels of the background, of edges, and of what could not be painted.
    pub(super) unclaimed: u64,
}

/// Whose the pixels are, four bytes each.
pub(super) fn seen(pixels: &[u8], width: usize) -> Seen {
    let ids = ids();
    let mut seen = Seen { segments: vec![Segment::default(); CAPACITY], unclaimed: 0 };
    for (at, pixel) in pixels.chunks_exact(4).enumerate() {
        match place(pixel).and_then(|place| ids[place]) {
            Some(id) => seen.segments[id].add(&pixel[..3], at % width.max(1), at / width.max(1)),
            None => seen.unclaimed += 1,
        }
    }
    seen
}

/// The number of the segment at each place of the cube of colours.
fn ids() -> [Option<usize>; LEVELS * LEVELS * LEVELS] {
    let mut ids = [None; LEVELS * LEVELS * LEVELS];
    for id in 0..CAPACITY {
        if let Some(place) = place(&color(id)) {
            ids[place] = Some(id);
        }
    }
    ids
}

/// Where a pixel is in the cube of colours, if it is near one of them.
fn place(pixel: &[u8]) -> Option<usize> {
    pixel.iter().take(3).try_fold(0, |place, channel| {
        let channel = usize::from(*channel);
        let level = (channel + STEP / 2) / STEP;
        (channel.abs_diff(level * STEP) <= TOLERANCE).then_some(place * LEVELS + level)
    })
}

#[cfg(test)]
mod tests;
