# The common part of two small runners of our own, which take the flags of a framework and write its report.
# A test method gives "" when it passed, and else what it has to say: "skip", "nothing" or a failure.
extends RefCounted


static func scripts_below(folder: String, found: Array) -> void:
	for name in DirAccess.get_files_at(folder):
		if name.begins_with("test_") and name.ends_with(".gd"):
			found.append(folder.path_join(name))
	for name in DirAccess.get_directories_at(folder):
		scripts_below(folder.path_join(name), found)


# Pairs of a method's name and what it said; empty for a script that does not load.
static func run(path: String) -> Array:
	var script := load(path) as GDScript
	if script == null or not script.can_instantiate():
		return []
	var subject = script.new()
	var results := []
	for method in script.get_script_method_list():
		if String(method.name).begins_with("test_"):
			results.append([method.name, subject.call(method.name)])
	return results


static func put(path: String, text: String) -> void:
	DirAccess.make_dir_recursive_absolute(path.get_base_dir())
	var file := FileAccess.open(path, FileAccess.WRITE)
	file.store_string(text)
	file.close()
