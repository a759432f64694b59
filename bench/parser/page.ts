import { measureCosts } from './costs.ts';

declare global {
  interface Window {
    measureCosts: typeof measureCosts;
  }
}

window.measureCosts = measureCosts;
