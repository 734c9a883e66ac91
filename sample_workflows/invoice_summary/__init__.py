"""Sample: data reshaped by jq and JavaScript, without any worker."""
