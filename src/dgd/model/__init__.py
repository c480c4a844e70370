"""The equations: who is out there, whom contact reaches, how they respond, what they carry on."""
