//! Two pictures of one size, compared: pixel by pixel, by their structure, and by what the eye would remember.

/// Bytes of a pixel.
const CHANNELS: usize = 4;

/// Side of the squares whose structure is compared, in pixels.
const BLOCK: usize = 8;

/// Constants of the structural similarity for values up to 255.
const C1: f64 = 6.5025;
const C2: f64 = 58.5225;

/// Columns and rows of the small picture behind a hash: each is compared with its right neighbour.
const HASH_COLUMNS: usize = 9;
const HASH_ROWS: usize = 8;

/// The smallest rectangle around all that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// How two pictures differ.
pub(super) struct Comparison {
    pub(super) total: usize,
    /// Pixels of which a channel differs by more than the threshold.
    pub(super) changed: usize,
    pub(super) max_delta: u8,
    /// Of all channels.
    pub(super) mean_absolute_error: f64,
    pub(super) bounds: Option<Bounds>,
    /// The mean over all squares; 1 for the same picture.
    pub(super) ssim: f64,
    pub(super) hashes: [u64; 2],
    /// What differs in its strength of red, everything else dim.
    pub(super) picture: Vec<u8>,
}

impl Comparison {
    pub(super) fn changed_ratio(&self) -> f64 {
        share(self.changed, self.total)
    }
}

/// Compares two pictures of four bytes a pixel and `width` pixels a row.
pub(super) fn compare(before: &[u8], now: &[u8], width: usize, threshold: u8) -> Comparison {
    let (luma_before, luma_now) = (luma(before), luma(now));
    let mut found = Differences::default();
    let mut picture = vec![0; now.len()];
    let pixels = before.chunks_exact(CHANNELS).zip(now.chunks_exact(CHANNELS));
    for ((at, (a, b)), shown) in pixels.enumerate().zip(picture.chunks_exact_mut(CHANNELS)) {
        let delta = found.pixel(a, b);
        if delta > threshold {
            found.mark(at % width.max(1), at / width.max(1));
            shown.copy_from_slice(&[delta.max(96), 0, 0, 255]);
        } else {
            let dim = luma_now[at] / 4;
            shown.copy_from_slice(&[dim, dim, dim, 255]);
        }
    }
    let total = luma_now.len();
    Comparison {
        total,
        changed: found.changed,
        max_delta: found.max_delta,
        mean_absolute_error: ratio(found.sum, total * CHANNELS),
        bounds: found.bounds(),
        ssim: ssim(&luma_before, &luma_now, width),
        hashes: [hash(&luma_before, width), hash(&luma_now, width)],
        picture,
    }
}

/// In how many bits two hashes differ.
pub(super) fn hamming([a, b]: [u64; 2]) -> u32 {
    (a ^ b).count_ones()
}

#[derive(Default)]
struct Differences {
    changed: usize,
    max_delta: u8,
    sum: u64,
    /// Left, top, right, bottom.
    edges: Option<[usize; 4]>,
}

impl Differences {
    /// The largest difference of a channel.
    fn pixel(&mut self, a: &[u8], b: &[u8]) -> u8 {
        let mut most = 0;
        for (a, b) in a.iter().zip(b) {
            let delta = a.abs_diff(*b);
            self.sum += u64::from(delta);
            most = most.max(delta);
        }
        self.max_delta = self.max_delta.max(most);
        most
    }

    fn mark(&mut self, x: usize, y: usize) {
        self.changed += 1;
        let [left, top, right, bottom] = self.edges.unwrap_or([x, y, x, y]);
        self.edges = Some([left.min(x), top.min(y), right.max(x), bottom.max(y)]);
    }

    fn bounds(&self) -> Option<Bounds> {
        let [x, y, right, bottom] = self.edges?;
        Some(Bounds { x, y, width: right - x + 1, height: bottom - y + 1 })
    }
}

/// The brightness of each pixel.
fn luma(pixels: &[u8]) -> Vec<u8> {
    let of = |pixel: &[u8]| {
        let [r, g, b] = [u32::from(pixel[0]), u32::from(pixel[1]), u32::from(pixel[2])];
        u8::try_from((r * 77 + g * 150 + b * 29) >> 8).unwrap_or(u8::MAX)
    };
    pixels.chunks_exact(CHANNELS).map(of).collect()
}

/// The mean structural similarity of squares; those at the right and bottom edges may be smaller.
fn ssim(before: &[u8], now: &[u8], width: usize) -> f64 {
    if width == 0 || now.is_empty() {
        return 1.0;
    }
    let height = now.len() / width;
    let (mut sum, mut blocks) = (0.0, 0_u32);
    for top in (0..height).step_by(BLOCK) {
        for left in (0..width).step_by(BLOCK) {
            let right = (left + BLOCK).min(width);
            let rows =
                (top..(top + BLOCK).min(height)).map(|y| y * width + left..y * width + right);
            let mut moments = Moments::default();
            for row in rows {
                moments.add(&before[row.clone()], &now[row]);
            }
            sum += moments.similarity();
            blocks += 1;
        }
    }
    sum / f64::from(blocks.max(1))
}

/// Sums over the pixels of a square of both pictures.
#[derive(Default)]
struct Moments {
    count: u32,
    a: u32,
    b: u32,
    aa: u32,
    bb: u32,
    ab: u32,
}

impl Moments {
    fn add(&mut self, before: &[u8], now: &[u8]) {
        for (a, b) in before.iter().zip(now) {
            let (a, b) = (u32::from(*a), u32::from(*b));
            self.count += 1;
            self.a += a;
            self.b += b;
            self.aa += a * a;
            self.bb += b * b;
            self.ab += a * b;
        }
    }

    fn similarity(&self) -> f64 {
        let count = f64::from(self.count.max(1));
        let mean = |sum: u32| f64::from(sum) / count;
        let (a, b) = (mean(self.a), mean(self.b));
        let (aa, bb) = (mean(self.aa) - a * a, mean(self.bb) - b * b);
        let ab = mean(self.ab) - a * b;
        ((2.0 * a * b + C1) * (2.0 * ab + C2)) / ((a * a + b * b + C1) * (aa + bb + C2))
    }
}

/// A bit for each place of a small copy: whether it is brighter than its right neighbour.
fn hash(luma: &[u8], width: usize) -> u64 {
    if width == 0 || luma.is_empty() {
        return 0;
    }
    let height = luma.len() / width;
    let mean = |column: usize, row: usize| {
        let part = |at: usize, parts: usize, whole: usize| {
            let begin = at * whole / parts;
            begin..((at + 1) * whole / parts).max(begin + 1).min(whole.max(1))
        };
        let columns = part(column, HASH_COLUMNS, width);
        let (mut sum, mut count) = (0_u64, 0_u64);
        for y in part(row, HASH_ROWS, height) {
            for value in &luma[y * width..][columns.clone()] {
                sum += u64::from(*value);
                count += 1;
            }
        }
        // In parts of 256, so that a small slope is still one.
        sum * 256 / count.max(1)
    };
    let mut bits = 0;
    for row in 0..HASH_ROWS {
        for column in 0..HASH_COLUMNS - 1 {
            bits = bits << 1 | u64::from(mean(column, row) > mean(column + 1, row));
        }
    }
    bits
}

#[allow(clippy::cast_precision_loss, reason = "numbers of pixels are small")]
fn ratio(sum: u64, count: usize) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

fn share(part: usize, whole: usize) -> f64 {
    ratio(part as u64, whole)
}

#[cfg(test)]
mod tests;
