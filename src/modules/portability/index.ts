export { resealUploads } from './exports/reseal-queries.ts'
export { resealDownloads } from './imports/reseal-queries.ts'
