// Debian's furo lacks the style for a system whose look is dark: here it follows the system until a reader chooses.
const system_is_dark = matchMedia('(prefers-color-scheme: dark)');
function follow_system() {
  if ((localStorage.getItem('theme') || 'auto') === 'auto' && system_is_dark.matches)
    document.body.dataset.theme = 'dark';
}
system_is_dark.addEventListener('change', follow_system);
follow_system();
