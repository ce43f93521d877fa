import { emailAddress, webAddress } from '../rules.ts'
import { countOrNone, flag, text } from '../schema.ts'

const pages = { without: 'pages' }
const long = { longest: 65_536 }

/** What pages and mails say. */
export const display = {
  home_page_url: text('Address that visitors of `/` are sent to', { rules: [webAddress] }),
  after_sign_out_path: text('Address that people are sent to when they sign out', { rules: [webAddress], ...pages }),
  after_sign_up_text: text('Told to people who made an account (Markdown)', { ...long, ...pages }),
  sign_in_text: text('Shown where people sign in (Markdown)', { ...long, ...pages }),
  help_page_text: text('Shown on the help page (Markdown)', { ...long, ...pages }),
  help_page_support_url: text('Address of those who help', { rules: [webAddress], ...pages }),
  help_page_hide_commercial_content: flag(false, 'The help page does not speak of other plans', pages),
  help_text: text('Shown where people sign in (Markdown)', { ...long, tier: 'premium', ...pages }),
  hide_third_party_offers: flag(false, 'No offers of others are shown', pages),
  performance_bar_allowed_group_id: countOrNone('Group whose members see what a page cost', {
    ...pages,
    guards: 'missing',
  }),
  web_ide_clientside_preview_enabled: flag(false, 'The editor of pages shows what the code does', pages),
  shared_runners_text: text('Told to people about shared runners (Markdown)', { ...long, ...pages }),
  instance_statistics_visibility_private: flag(false, 'Only administrators see statistics of the installation', {
    without: 'statistics that others see: they are for administrators, whatever is set',
    guards: 'missing',
  }),
  admin_notification_email: text('Address that reports of abuse are sent to', {
    rules: [emailAddress],
    without: 'reports of abuse',
  }),
  html_emails_enabled: flag(true, 'Mails are HTML, too'),
  email_author_in_body: flag(false, 'Mails name their author in the text', {
    without: 'mails about what people write: those about members name who acted, whatever is set',
  }),
  email_additional_text: text('Stands at the end of every mail', { ...long, tier: 'premium' }),
}
