import type { NewUser } from './queries.ts'

/** Default attributes of accounts that the service creates. */
export const plainUser = {
  passwordDigest: null,
  admin: false,
  external: false,
  can_create_group: true,
  projects_limit: 100_000,
  private_profile: false,
  confirmed: true,
  bio: null,
  location: null,
  public_email: '',
  skype: '',
  linkedin: '',
  twitter: '',
  website_url: '',
  organization: null,
  job_title: '',
  note: null,
  theme_id: 1,
  color_scheme_id: 1,
  shared_runners_minutes_limit: null,
  extra_shared_runners_minutes_limit: null,
} as const satisfies Omit<NewUser, 'username' | 'name' | 'email'>
