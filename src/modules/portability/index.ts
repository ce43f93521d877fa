export { checkArchives } from './archive/check.ts'
export { resealUploads } from './exports/reseal-queries.ts'
export { resealForgeTokens } from './forges/reseal-queries.ts'
export { resealDownloads } from './imports/reseal-queries.ts'
