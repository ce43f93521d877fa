import { Optional, Text } from '../../../api/params/types.ts'

/** Contents are in the body, possibly in Base64; larger files must be pushed with git. */
export const maxContentBytes = 64 * 1024 * 1024

/** Far below the limit for reading a commit. */
export const maxMessageLength = 1_000_000

export const authorParams = {
  author_email: Optional(Text({ maxLength: 255, description: 'Default: that of the caller' })),
  author_name: Optional(Text({ maxLength: 255, description: 'Default: that of the caller' })),
} as const
