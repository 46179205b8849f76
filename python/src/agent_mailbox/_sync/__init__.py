# Made of _async by `npm run types:python`; do not edit.
