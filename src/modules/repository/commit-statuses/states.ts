/** States that can be reported. */
export const states = ['pending', 'running', 'success', 'failed', 'canceled'] as const
export type State = (typeof states)[number]
