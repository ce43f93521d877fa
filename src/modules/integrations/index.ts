export { Dispatcher } from './deliveries/dispatcher.ts'
export type { HookTimes } from './deliveries/schedule.ts'
export { alsoForHooks } from './hook-events/record.ts'
export { resealHooks } from './hooks/reseal-queries.ts'
