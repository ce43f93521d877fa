export { findPicture, type PictureName, pictures } from './appearance/queries.ts'
export { resealSettings } from './application-settings/sealing.ts'
