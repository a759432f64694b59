import { TimerList } from './timer.ts';

/** The timers of this page. */
export const timers = new TimerList();
