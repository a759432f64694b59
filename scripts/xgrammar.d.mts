import type { Plugin } from 'vite';

export function xgrammar(): Plugin;
