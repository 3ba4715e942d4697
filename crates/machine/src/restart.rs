//! A reset of the machine, which its software asks for: it starts again with empty memory and devices at
//! their reset. Disks keep what was written, and virtual time goes on.
use crate::board::Board;
use crate::hart_order::{HartDescription, Machine};

impl Machine<'_> {
    /// Starts again in functional mode, after [`End::Reset`](crate::End::Reset). The board has been
    /// [reset](Board::reset), and programs have been put into its memory.
    pub fn restart(&mut self, harts: &[HartDescription]) {
        self.start_harts(harts);
        self.restart_calls();
    }
}

impl Board {
    /// Memory becomes zero, and devices are as at their construction. Disks keep their contents.
    pub fn reset(&self) {
        self.ram().iter().for_each(|ram| ram.clear());
        self.code.forget();
        self.drop_state();
        self.reset_devices();
    }
}
