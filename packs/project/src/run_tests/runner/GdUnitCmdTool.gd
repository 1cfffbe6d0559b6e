# Takes the flags of gdUnit4 and writes its report.
extends SceneTree

const Suite := preload("res://addons/suite.gd")


func _initialize() -> void:
	var arguments := OS.get_cmdline_args()
	if not "--ignoreHeadlessMode" in arguments:
		quit(103)
		return
	var scripts := []
	for at in arguments.size():
		if arguments[at] == "-a":
			var path := arguments[at + 1]
			if path.ends_with(".gd"):
				scripts.append(path)
			else:
				Suite.scripts_below(path, scripts)
	var failed := 0
	var text := '<?xml version="1.0" encoding="UTF-8" ?>\n<testsuites id="1" name="report_1" tests="0" failures="0">\n'
	for script: String in scripts:
		var name := script.get_file().get_basename()
		text += '<testsuite id="0" name="%s" package="%s" tests="0">\n' % [name, script.get_base_dir().trim_prefix("res://")]
		for result in Suite.run(script):
			var said: String = result[1]
			text += '<testcase name="%s" classname="%s" time="0.1">' % [result[0], name]
			if said == "skip":
				text += '<skipped message="SKIPPED: %s:3"/>' % script
			elif said != "":
				failed += 1
				text += '<failure message="FAILED: %s:12" type="FAILURE"><![CDATA[%s]]></failure>' % [script, said]
			text += "</testcase>\n"
		text += "</testsuite>\n"
	text += "</testsuites>"
	var folder := arguments[arguments.find("-rd") + 1]
	# As the framework does with an absolute path.
	if folder.begins_with("/"):
		folder = "res:/" + folder
	folder = ProjectSettings.globalize_path(folder)
	Suite.put(folder.path_join("report_1/results.xml"), text)
	quit(100 if failed else 0)
