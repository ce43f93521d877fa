export { resealImports } from './imports/reseal-queries.ts'
export { createFromPush, type Plan, planFromPush } from './project-creation/service.ts'
export { resealPullMirrors } from './pull-mirrors/reseal-queries.ts'
export { stopPullMirrorsOfDeleted } from './pull-mirrors/stop-of-deleted.ts'
