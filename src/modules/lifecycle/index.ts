export { resealImports } from './imports/reseal-queries.ts'
export { createFromPush, type Plan, planFromPush } from './project-creation/service.ts'
