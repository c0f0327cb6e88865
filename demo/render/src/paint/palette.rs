//! Colours. The armies' come from the palette of Okabe and Ito, which people with any colour vision can tell apart; what
//! matters is never told by colour alone.

use macroquad::color::Color;

const fn rgb(hex: u32) -> Color {
    let (red, green, blue) = ((hex >> 16) & 0xff, (hex >> 8) & 0xff, hex & 0xff);
    Color::new(red as f32 / 255.0, green as f32 / 255.0, blue as f32 / 255.0, 1.0)
}

/// The same colour, more transparent.
pub fn faded(color: Color, alpha: f32) -> Color {
    Color { a: color.a * alpha, ..color }
}

/// Between two colours.
pub fn mixed(a: Color, b: Color, part: f32) -> Color {
    let mix = |a: f32, b: f32| a + (b - a) * part;
    Color::new(mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b), mix(a.a, b.a))
}

pub const BACKDROP: Color = rgb(0x12_16_1b);
pub const PANEL: Color = rgb(0x1b_21_28);
pub const PANEL_RAISED: Color = rgb(0x27_2f_39);
pub const PANEL_BRIGHT: Color = rgb(0x36_41_4e);
pub const LINE: Color = rgb(0x3a_46_54);

pub const TEXT: Color = rgb(0xee_f2_f6);
pub const TEXT_DIM: Color = rgb(0x9f_ad_bc);

pub const GROUND: Color = rgb(0x47_55_3a);
pub const GROUND_LINE: Color = rgb(0x52_61_44);
/// Patches on the ground, darker and lighter, and blades of grass.
pub const MOSS: Color = rgb(0x37_47_30);
pub const STRAW: Color = rgb(0x6d_6b_45);
pub const GRASS: Color = rgb(0x63_75_4a);
pub const OUTSIDE: Color = rgb(0x2c_3a_2c);
pub const ROCK: Color = rgb(0x9c_9e_97);
pub const ROCK_DARK: Color = rgb(0x55_57_54);
pub const WATER: Color = rgb(0x2b_5f_78);
pub const DEEP: Color = rgb(0x0020_4c64);
pub const SHORE: Color = rgb(0x8a_80_5c);
pub const CANOPY: Color = rgb(0x3d_6d_3f);
pub const CANOPY_DARK: Color = rgb(0x2a_52_33);
pub const BOULDER: Color = rgb(0xa3_98_88);
/// Timber, and earth that many feet have trodden.
pub const TIMBER: Color = rgb(0x6b_50_3a);
pub const EARTH: Color = rgb(0x5c_51_3b);

/// Sparks of a blow.
pub const SPARKLE: Color = rgb(0xff_ee_b0);

pub const SELECTION: Color = rgb(0xf6_f9_c8);
pub const HEALTHY: Color = rgb(0x3d_d6_a3);
pub const WOUNDED: Color = rgb(0xf0_e4_42);
pub const DYING: Color = rgb(0xff_7b_39);

pub const GOOD: Color = rgb(0x2f_c4_94);
pub const BAD: Color = rgb(0xff_6a_3d);
/// A body that is not the same in the other copy.
pub const DIFFERENT: Color = rgb(0xff_2a_4d);
pub const WARN: Color = rgb(0xf0_c8_42);

/// Sky blue, orange, reddish purple, yellow, bluish green, blue, vermilion, white.
const ARMIES: [u32; 8] =
    [0x56_b4_e9, 0xf0_a4_2a, 0xd8_8a_b8, 0xf0_e4_42, 0x28_b8_8e, 0x3f_7f_d8, 0xe0_6a_2a, 0xd8_de_e4];

/// Colour of an army.
pub fn army(number: u8) -> Color {
    rgb(ARMIES[usize::from(number) % ARMIES.len()])
}
