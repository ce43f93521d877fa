export { findPicture, type PictureName, pictures } from './appearance/queries.ts'
export { openSettings, resealSettings } from './application-settings/sealing.ts'
