import { Type } from 'typebox'
import { flag } from '../schema.ts'

/** Who gets an account, and how people show who they are. */
export const accounts = {
  user_default_external: flag(false, 'New users are external'),
  minimum_password_length: Type.Integer({ minimum: 8, maximum: 128, default: 8, description: 'Characters' }),
  password_authentication_enabled_for_git: flag(true, 'Account passwords are accepted by git over HTTP'),
  avatar_service_enabled: flag(true, 'People without a picture of their own show one by e-mail address'),
}
